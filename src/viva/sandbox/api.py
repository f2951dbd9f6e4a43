"""Run untrusted Python: all that a program outside of this package needs. README.md shows an example."""

from viva.sandbox.errors import BoxDied as BoxDied
from viva.sandbox.errors import BoxError as BoxError
from viva.sandbox.errors import BoxTimeout as BoxTimeout
from viva.sandbox.errors import BoxUnavailable as BoxUnavailable
from viva.sandbox.guest.transport.message_types import CallObject as CallObject
from viva.sandbox.guest.transport.message_types import Get as Get
from viva.sandbox.guest.transport.message_types import GetAttribute as GetAttribute
from viva.sandbox.guest.transport.message_types import GetItem as GetItem
from viva.sandbox.guest.transport.message_types import ListFiles as ListFiles
from viva.sandbox.guest.transport.message_types import ListNames as ListNames
from viva.sandbox.guest.transport.message_types import LoadModule as LoadModule
from viva.sandbox.guest.transport.message_types import Put as Put
from viva.sandbox.guest.transport.message_types import ReadFile as ReadFile
from viva.sandbox.guest.transport.message_types import RunCommand as RunCommand
from viva.sandbox.guest.transport.message_types import Unpack as Unpack
from viva.sandbox.guest.transport.wire import Ref as Ref
from viva.sandbox.host.box import Box as Box
from viva.sandbox.host.box_pool import Pool as Pool
from viva.sandbox.host.fork_server import ForkServer as ForkServer
from viva.sandbox.host.levels.detect_levels import detect_tiers as detect_tiers
from viva.sandbox.limits import Limits as Limits
from viva.sandbox.reply import Reply as Reply
from viva.sandbox.tier import Tier as Tier
