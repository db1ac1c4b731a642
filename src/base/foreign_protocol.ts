/** ForeignProtocol: names what a peer probably speaks, from its first bytes. */

/** How many first bytes `likelyProtocol` wants to see. */
export const FOREIGN_HEAD_SIZE = 16;

/** How the answer begins when nothing fits. */
export const UNKNOWN_PROTOCOL = "an unknown protocol";

/** A peer that took this port for the replication port. */
export const HA_REPORT_PROTOCOL =
  "the report of an HA slave (its port is listenPort+1)";

interface Signature {
  /** Latin-1 text that the bytes begin with, at `offset`. */
  readonly text: string;
  readonly offset?: number;
  readonly protocol: string;
}

const HTTP = "HTTP";

/** The first match counts. Four bytes decide, where they can: a dribbled head has no more. */
const SIGNATURES: readonly Signature[] = [
  { text: "PRI ", protocol: "HTTP/2 (gRPC?)" },
  ...["GET ", "POST", "PUT ", "HEAD", "DELE", "OPTI", "PATC", "CONN", "TRAC"]
    .map((text) => ({ text, protocol: HTTP })),
  { text: "HTTP", protocol: HTTP },
  { text: "\x16\x03", protocol: "TLS (this port speaks plain text)" },
  { text: "PROX", protocol: "the PROXY protocol v1 of a load balancer" },
  {
    text: "\r\n\r\n",
    protocol: "the PROXY protocol v2 of a load balancer",
  },
  { text: "SSH-", protocol: "SSH" },
  { text: "*1\r\n", protocol: "Redis" },
  { text: "*2\r\n", protocol: "Redis" },
  { text: "*3\r\n", protocol: "Redis" },
  { text: "PING\r\n", protocol: "Redis" },
  { text: "INFO\r\n", protocol: "Redis" },
  { text: "AMQP", protocol: "AMQP" },
  { text: "MQTT", offset: 4, protocol: "MQTT" },
  { text: "MQIsdp", offset: 4, protocol: "MQTT" },
  { text: "\x04\xd2\x16\x2f", offset: 4, protocol: "PostgreSQL" },
  { text: "\0\x03\0\0", offset: 4, protocol: "PostgreSQL" },
  { text: "\xffSMB", offset: 4, protocol: "SMB" },
  { text: "\xfeSMB", offset: 4, protocol: "SMB" },
  { text: "\x03\0\0", protocol: "RDP" },
  { text: "\0\x12\0", offset: 4, protocol: "Kafka" },
  { text: "\xac\xed\0\x05", protocol: "Java serialization" },
  {
    text: "\0\0\0\0",
    protocol: HA_REPORT_PROTOCOL,
  },
];

/** The probable protocol, or the bytes themselves when nothing fits. */
export function likelyProtocol(head: Uint8Array): string {
  for (const signature of SIGNATURES) {
    if (startsWith(head, signature.text, signature.offset ?? 0)) {
      return signature.protocol;
    }
  }
  const shown = [...head.subarray(0, 8)]
    .map((it) => it.toString(16).padStart(2, "0")).join(" ");
  return `${UNKNOWN_PROTOCOL}, first bytes ${shown || "none"}`;
}

function startsWith(head: Uint8Array, text: string, offset: number): boolean {
  if (head.length < offset + text.length) return false;
  for (let index = 0; index < text.length; index++) {
    if (head[offset + index] !== text.charCodeAt(index)) return false;
  }
  return true;
}
