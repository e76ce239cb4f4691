#!/bin/sh
# Replaces the executable under test in the tests of the rig itself: `hook` prints its input, `mcp` is a
# server with one tool that answers "first" only after "second".

if [ "$1" = hook ]; then
  echo "$*"; pwd; echo "$CLAUDE_PROJECT_DIR"; cat
  exit
fi

while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
  answer() { echo '{"jsonrpc":"2.0","id":'"$1"',"result":'"$2"'}'; }
  text() { answer "$1" '{"content":[{"type":"text","text":"'"$2"'"}]}'; }
  case "$line" in
    *'"server/discover"'* | *'"nonsense"'*)
      echo '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"no such method"}}' ;;
    *'"initialize"'*)
      answer "$id" '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *'"tools/list"'*)
      answer "$id" '{"tools":[{"name":"search","description":"Search.","inputSchema":{"type":"object"}}]}' ;;
    *'"first"'*) held=$id ;;
    *'"second"'*)
      echo '{"jsonrpc":"2.0","method":"notifications/message","params":{}}'
      text "$id" two
      text "$held" one ;;
    *'"tools/call"'*) text "$id" "FOUND-IN-MEMORY" ;;
    *cancelled*) echo "cancelled $line" >&2 ;;
  esac
done
echo bye >&2
