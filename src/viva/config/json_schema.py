"""The JSON Schema of a course file, for editors: from the class that the file is read into."""

from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

if TYPE_CHECKING:
    from pydantic_core.core_schema import WithDefaultSchema

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class _Generator(GenerateJsonSchema):
    """Leaves out titles made of names, and defaults that a file would write in another way."""

    def field_title_should_be_set(self, schema: object) -> bool:
        """Return False: a key is its own title."""
        return False

    def default_schema(self, schema: "WithDefaultSchema") -> dict[str, object]:
        """Return the schema of a value that may be left out, with its default if it is written as it is read."""
        written, default = self.generate_inner(schema["schema"]), schema.get("default")
        if "default" in written or not _allows(written, _WRITTEN_AS.get(type(default), ())):
            return written
        return {**written, "default": default}


_WRITTEN_AS = {str: ("string",), bool: ("boolean",), int: ("integer", "number"), float: ("number",)}


def _allows(written: dict[str, Any], types: tuple[str, ...]) -> bool:
    return written.get("type") in types or any(_allows(each, types) for each in written.get("anyOf", ()))


def json_schema(model: Any, file: str) -> dict[str, object]:
    """Return the JSON Schema of a course file.

    Args:
        model: the class that the file is read into, or a mapping of names to such a class.
        file: the name of the file, as the title.
    """
    written = TypeAdapter(model).json_schema(schema_generator=_Generator)
    for part in (written, *written.get("$defs", {}).values()):
        part.pop("title", None)
    return {"$schema": DIALECT, "title": file, **written}
