#!/bin/sh
# Every command as it is, but for `serve`: inside a container it must listen beyond 127.0.0.1, on the
# port that the image names. Without a run it shows the one mounted at /data, or else the demo.
set -eu

if [ "${1:-}" != serve ]; then
  exec citeweave "$@"
fi
shift
case "${1:-}" in
  "" | -*)
    if [ -f "${CITEWEAVE_DATA_FOLDER:-/data}/manifest.json" ]; then
      run="${CITEWEAVE_DATA_FOLDER:-/data}"
    else
      run="${CITEWEAVE_DEMO:-/opt/citeweave/demo}"
    fi
    ;;
  *)
    run="$1"
    shift
    ;;
esac
exec citeweave serve "$run" --host 0.0.0.0 --port 8000 --no-open "$@"
