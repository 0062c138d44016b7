"""Build the site and look at it: ``python -m docs.serve``, which needs the extra ``docs``."""

import argparse
import functools
import http.server
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Build the site into ``site`` and serve it on this computer alone."""
    parser = argparse.ArgumentParser(description="Build the documentation and serve it locally.")
    parser.add_argument("--port", type=int, default=8001)
    parser.add_argument("--out", type=Path, default=ROOT / "site", help="folder of the site")
    options = parser.parse_args()
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "-q", "-b", "html"]
    built = subprocess.run([*command, ROOT / "docs", options.out], check=False)  # noqa: S603
    if built.returncode:
        sys.exit("The site was not built. It needs: pip install 'citeweave[docs]'")
    handler = functools.partial(
        http.server.SimpleHTTPRequestHandler, directory=str(options.out.resolve())
    )
    with http.server.ThreadingHTTPServer(("127.0.0.1", options.port), handler) as server:
        sys.stdout.write(f"http://127.0.0.1:{server.server_port}/  (Ctrl-C stops)\n")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            sys.stdout.write("\n")


if __name__ == "__main__":
    main()
