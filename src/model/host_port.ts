/** isHostPort: what can be connected to. */

/** True for `host:port`; IPv6 in brackets, a port from 1 to 65535. */
export function isHostPort(text: string): boolean {
  const match = /^(?:\[[0-9a-f:.]+\]|[^\s:;[\]]+):(\d{1,5})$/i.exec(text);
  return match !== null && Number(match[1]) > 0 && Number(match[1]) <= 65_535;
}
