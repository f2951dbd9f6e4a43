"""`python -m docs.site`: write every file of the site to build/pages, from which MkDocs makes the site."""

import shutil

from docs.site.pages import ROOT, site_files

FOLDER = ROOT / "build" / "pages"


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    for place, data in site_files().items():
        target = FOLDER / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


if __name__ == "__main__":
    main()
