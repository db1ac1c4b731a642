/** Messages as the tools print them. */
import { bodyText, type MessageView } from "../admin/message_routes.ts";
import { escaped } from "../base/escaped.ts";
import { type CliContext, printLine } from "./cli_context.ts";
import { printJson } from "./output.ts";
import { timeText } from "./time.ts";

/** A message as one JSON object; the body as text when it is text. */
export function messageJson(message: MessageView): Record<string, unknown> {
  const { body, ...rest } = message;
  return { ...rest, ...bodyText(body) };
}

/** Prints messages one below the other, or as one JSON array. */
export function printMessages(
  context: CliContext,
  flags: { readonly json?: boolean },
  messages: readonly MessageView[],
): void {
  if (flags.json === true) {
    printJson(context, messages.map(messageJson));
    return;
  }
  for (const [index, message] of messages.entries()) {
    if (index > 0) printLine(context, "");
    printMessage(context, message);
  }
}

function printMessage(context: CliContext, message: MessageView): void {
  const { encoding, body } = bodyText(message.body);
  const fields: readonly (readonly [string, string | number])[] = [
    ["msgId", message.msgId],
    ["offsetMsgId", message.offsetMsgId],
    ["topic", message.topic],
    ["queue", message.queueId],
    ["queueOffset", message.queueOffset],
    ["commitLogOffset", message.commitLogOffset],
    ["born", `${timeText(message.bornTimestamp)} ${message.bornHost}`],
    ["stored", `${timeText(message.storeTimestamp)} ${message.storeHost}`],
    ["reconsumeTimes", message.reconsumeTimes],
    ["properties", JSON.stringify(message.properties)],
    [`body (${bodyKind(message, encoding)})`, body],
  ];
  for (const [name, value] of fields) {
    // A body may have lines of its own: no control characters else (see bodyText).
    const text = name.startsWith("body") ? value : escaped(String(value));
    printLine(context, `${name.padEnd(16)} ${text}`);
  }
}

function bodyKind(message: MessageView, encoding: string): string {
  const { bodySize, compression } = message;
  const packed = compression === null ? "" : `, still packed: ${compression}`;
  return `${encoding}, ${bodySize} bytes${packed}`;
}
