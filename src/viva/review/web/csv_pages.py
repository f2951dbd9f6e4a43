"""All marks of a round as a table: out, and in again after every line was verified."""

from typing import Annotated

from fastapi import APIRouter, File, UploadFile
from fastapi.responses import Response

from viva.model.errors import UsageError
from viva.review import round_csv
from viva.review.web.request_context import Asked

router = APIRouter()


@router.get("/table")
def page(asked: Asked) -> Response:
    """Where it is fetched and brought back."""
    return asked.show("table.html.j2", fault="", taken=None)


@router.get("/marks.csv")
def fetch(asked: Asked) -> Response:
    """Every answer with what was said of it in the marker's round."""
    name = f"{asked.desk.assignment.name}-marks{'-second' if asked.marker.round == 2 else ''}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(round_csv.written(asked.desk, asked.marker.round), media_type="text/csv", headers=headers)


@router.post("/marks.csv")
def bring(asked: Asked, file: Annotated[UploadFile, File()]) -> Response:
    """Take the marks of a table, all or none."""
    try:
        taken = round_csv.taken(asked.desk, asked.marker, file.file.read())
    except UsageError as error:
        return asked.show("table.html.j2", 422, fault=str(error), taken=None)
    return asked.show("table.html.j2", fault="", taken=taken)
