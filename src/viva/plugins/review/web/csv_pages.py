"""The pages on which the grades of a round are downloaded and uploaded as a CSV table."""

from typing import Final

from starlette.responses import Response

from viva.model.errors import UsageError
from viva.plugins.review.tables import round_csv
from viva.plugins.review.web.request_context import RequestContext
from viva.plugins.review.web.routing import get, post


def page(context: RequestContext) -> Response:
    """Show the page for downloading and uploading the table."""
    return context.show("table.html.j2", fault="", taken=None)


def fetch(context: RequestContext) -> Response:
    """Return every answer with its grade in the marker's round."""
    name = f"{context.queue.assignment.name}-marks{'-second' if context.marker.round == 2 else ''}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(round_csv.export_csv(context.queue, context.marker.round), media_type="text/csv", headers=headers)


def bring(context: RequestContext) -> Response:
    """Store the grades of a table, all or none."""
    try:
        taken = round_csv.import_csv(context.queue, context.marker, context.fields.file("file"))
    except UsageError as error:
        return context.show("table.html.j2", 422, fault=str(error), taken=None)
    return context.show("table.html.j2", fault="", taken=taken)


ROUTES: Final = (get("/table", page), get("/marks.csv", fetch), post("/marks.csv", bring))
