/**
 * X.509 certificates of P-256 keys (RFC 5280), as small as clients take them: what
 * tls.test.mode.enable shows, and what the tests sign.
 *
 * | part                | as                                                             |
 * | ------------------- | -------------------------------------------------------------- |
 * | Certificate         | SEQUENCE { tbs, algorithm, BIT STRING signature of tbs }        |
 * | tbs                 | SEQUENCE { [0] { INTEGER 2 }, serial, algorithm, issuer, validity, subject, key, [3] { extensions } } |
 * | algorithm           | SEQUENCE { ecdsa-with-SHA256 }                                  |
 * | issuer, subject     | SEQUENCE { SET { SEQUENCE { commonName, UTF8String } } }        |
 * | validity            | SEQUENCE { UTCTime, UTCTime }                                   |
 * | extensions          | SEQUENCE { basicConstraints (critical), subjectAltName }        |
 */
import {
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from "node:crypto";
import type { TlsIdentity } from "../io/tls.ts";

const SEQUENCE = 0x30;
const SET = 0x31;
const BOOLEAN = 0x01;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const DNS_NAME = 0x82;

const ECDSA_WITH_SHA256 = [6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2];
const COMMON_NAME = [6, 3, 0x55, 4, 3];
const BASIC_CONSTRAINTS = [6, 3, 0x55, 0x1d, 19];
const SUBJECT_ALT_NAME = [6, 3, 0x55, 0x1d, 17];

const DAY_MS = 86_400_000;
const VALID_DAYS = 3650;

/** A certificate and its key. */
export interface SignedIdentity extends TlsIdentity {
  readonly commonName: string;
  readonly privateKey: KeyObject;
}

/** Makes a key and a certificate that `issuer` signs; without one it signs itself. */
export function signIdentity(
  commonName: string,
  nowMs: number,
  issuer?: SignedIdentity,
): SignedIdentity {
  const { privateKey, publicKey } = generateKeyPairSync("ec", {
    namedCurve: "P-256",
  });
  const algorithm = der(SEQUENCE, ECDSA_WITH_SHA256);
  const tbs = der(
    SEQUENCE,
    der(0xa0, der(INTEGER, [2])),
    der(INTEGER, [1, ...randomBytes(8)]),
    algorithm,
    nameOf(issuer?.commonName ?? commonName),
    der(SEQUENCE, timeOf(nowMs - DAY_MS), timeOf(nowMs + VALID_DAYS * DAY_MS)),
    nameOf(commonName),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, der(SEQUENCE, ...extensionsOf(issuer === undefined))),
  );
  const signature = sign("sha256", tbs, issuer?.privateKey ?? privateKey);
  const certificate = der(
    SEQUENCE,
    tbs,
    algorithm,
    der(BIT_STRING, [0], signature),
  );
  return {
    commonName,
    privateKey,
    certificate: pemOf(certificate),
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    keyPassword: "",
  };
}

function extensionsOf(isAuthority: boolean): Uint8Array[] {
  const constraints = der(
    SEQUENCE,
    isAuthority ? der(BOOLEAN, [0xff]) : [],
  );
  const names = der(SEQUENCE, der(DNS_NAME, textBytes("localhost")));
  return [
    der(
      SEQUENCE,
      BASIC_CONSTRAINTS,
      der(BOOLEAN, [0xff]),
      der(OCTET_STRING, constraints),
    ),
    der(SEQUENCE, SUBJECT_ALT_NAME, der(OCTET_STRING, names)),
  ];
}

function nameOf(commonName: string): Uint8Array {
  const value = der(UTF8_STRING, textBytes(commonName));
  return der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, value)));
}

/** `YYMMDDHHMMSSZ`: good until 2049. */
function timeOf(ms: number): Uint8Array {
  const digits = new Date(ms).toISOString().replace(/\D/g, "").slice(2, 14);
  return der(UTC_TIME, textBytes(`${digits}Z`));
}

/** Tag, length, content. */
function der(tag: number, ...parts: ArrayLike<number>[]): Uint8Array {
  const size = parts.reduce((sum, it) => sum + it.length, 0);
  const length = size < 0x80
    ? [size]
    : size < 0x100
    ? [0x81, size]
    : [0x82, size >> 8, size & 0xff];
  const bytes = new Uint8Array(1 + length.length + size);
  bytes.set([tag, ...length]);
  let position = 1 + length.length;
  for (const part of parts) {
    bytes.set(part, position);
    position += part.length;
  }
  return bytes;
}

function textBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function pemOf(bytes: Uint8Array): string {
  const lines = btoa(String.fromCharCode(...bytes)).match(/.{1,64}/g)!;
  return [
    "-----BEGIN CERTIFICATE-----",
    ...lines,
    "-----END CERTIFICATE-----",
    "",
  ].join("\n");
}
