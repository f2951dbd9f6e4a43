"""The server of `viva review`: one process on this machine, which prints its address and runs until Ctrl-C."""

import contextlib
import os
import signal
import socket
import ssl
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from viva.model.errors import UsageError
from viva.plugins.review.web.access import Access
from viva.plugins.review.web.browser import open_in_browser
from viva.plugins.review.web.guard import protect
from viva.plugins.review.web.listening import is_loopback, listen
from viva.plugins.review.web.session_store import SessionStore

PASSWORD_CHARACTERS: Final = 10
"""The minimum length of a password."""
MAX_CONNECTIONS: Final = 200
KEEP_ALIVE_S: Final = 10
"""How long a connection may stay open without another request."""
ENDING_S: Final = 5
"""How long open requests may take after the server is stopped."""
_UNENCRYPTED: Final = (
    "viva: over HTTP, names, answers, grades and the password can be read by whoever sits between: use an SSH tunnel "
    "instead of --host, or --certificate FILE --key FILE for HTTPS."
)


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How the pages are served."""

    about: str
    """A text that identifies what is graded, equal for each run of the same command."""
    marker: str
    round: int
    password: str | None = None
    """Required if other machines can connect."""
    host: str | None = None
    """None for this machine alone."""
    port: int | None = None
    """None for the port of the last run, or any free one."""
    certificate: Path | None = None
    key: Path | None = None
    """The key of the certificate; HTTPS needs both."""
    opens: bool = False
    """Whether to open the browser."""
    new_token: bool = False
    """Whether to refuse the sessions of earlier runs."""
    start: str = "/"
    """The first page."""

    @property
    def scheme(self) -> str:
        """Return `https` if there is a certificate, otherwise `http`."""
        return "http" if self.certificate is None else "https"


def serve(app: ASGIApp, options: ServerOptions) -> int:
    """Serve the pages until Ctrl-C, and print their address.

    Args:
        app: the pages.
        options: the options of the server, for which `check_options` has raised nothing.

    Returns:
        The exit status, 0.

    Raises:
        UsageError: the socket cannot listen, or another run serves the same answers.
    """
    if options.password is not None and options.scheme == "http":
        print(_UNENCRYPTED, file=sys.stderr, flush=True)
    store = SessionStore(options.about, os.environ, new_key=options.new_token, exclusive=options.port is None)
    with store, contextlib.ExitStack() as cleanup:
        listening, port_taken = listen(options.host, options.port, store.port)
        cleanup.callback(listening.socket.close)
        if port_taken:
            store.renew()
        access = Access(
            store.key,
            hosts=listening.hosts,
            password=options.password,
            marker=options.marker,
            round=options.round,
            port=listening.port,
            https=options.scheme == "https",
            start=options.start,
        )
        address = f"{listening.origin(options.scheme)}/"
        if access.token:
            address += f"?token={access.token}"
        store.save(listening.port, address)
        if store.problem:
            print(f"viva: {store.problem}", file=sys.stderr, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            print(f"viva review: {address}", flush=True)
            if options.opens:
                cleanup.enter_context(open_in_browser(address))
            _run(make_server(protect(app, access), options), listening.socket)
        print("viva review: stopped; every grade is saved.", file=sys.stderr, flush=True)
    return 0


def make_server(app: ASGIApp, options: ServerOptions) -> uvicorn.Server:
    """Return the server without starting it; it speaks HTTP/1.1 only, has timeouts, and logs nothing."""
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        loop="asyncio",
        log_config=None,
        log_level="critical",  # the app's errors are printed by `protect`; invalid requests are not worth a line
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=ENDING_S,
        ssl_certfile=options.certificate,
        ssl_keyfile=options.key,
    )
    return uvicorn.Server(config)


def check_options(options: ServerOptions) -> None:
    """Check the options before anything is read.

    Raises:
        UsageError: the password is missing or too short, or the certificate cannot be used.
    """
    _check_certificate(options.certificate, options.key)
    if not is_loopback(options.host) and len(options.password or "") < PASSWORD_CHARACTERS:
        raise UsageError(
            f"--host lets other machines in, which needs a password of at least {PASSWORD_CHARACTERS} characters: type "
            "it when you are asked, or set VIVA_REVIEW_PASSWORD."
        )


def _run(server: uvicorn.Server, bound: socket.socket) -> None:
    """Answer requests; on Ctrl-C and other signals finish the open ones before the signal is raised again."""
    hangup = getattr(signal, "SIGHUP", None)  # Windows has none
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:  # nohup ignores it
        signal.signal(hangup, server.handle_exit)
    server.run(sockets=[bound])


def _check_certificate(certificate: Path | None, key: Path | None) -> None:
    """Check the certificate now, instead of failing in a library at the first request.

    Raises:
        UsageError: one of the files is missing or cannot be used.
    """
    if (certificate is None) != (key is None):
        raise UsageError("--certificate and --key belong together: give both files, in PEM.")
    if certificate is None or key is None:
        return
    for option, path in (("--certificate", certificate), ("--key", key)):
        if not path.is_file():
            raise UsageError(f"{option} {path}: no such file.")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password=lambda: "")
    except (ssl.SSLError, OSError) as error:
        raise UsageError(
            f"--certificate {certificate} and --key {key} cannot be used ({error.strerror or error}): both have to be "
            "PEM, belong together, and the key must not have a password."
        ) from None
