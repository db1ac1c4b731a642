#!/bin/sh
# Installs the pinned packages when the lock file changed; sourced by the launchers.
command -v npm >/dev/null || {
  echo "pocketmq: npm is missing; install Node.js 20 or newer with npm" >&2
  exit 1
}
stamp=node_modules/.installed
if ! cmp -s package-lock.json "$stamp"; then
  npm ci --no-audit --no-fund >&2
  node_modules/.bin/bun --version >/dev/null 2>&1 ||
    node node_modules/bun/install.js >&2
  cp package-lock.json "$stamp"
fi
