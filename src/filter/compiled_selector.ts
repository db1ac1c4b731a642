/** CompiledSelector: an expression that was read, ready for messages. */
import { evaluate } from "./evaluator.ts";
import type { Expression } from "./expression.ts";
import { messageEvaluationContext } from "./message_evaluation_context.ts";
import { parseSelector, type Selector } from "./selector_parser.ts";

/** What decides about messages. */
export class CompiledSelector {
  readonly #selector: Selector;
  readonly #lookUps: number;

  /** Throws `SelectorParseError`. */
  constructor(readonly text: string) {
    this.#selector = parseSelector(text);
    this.#lookUps = lookUpsOf(this.#selector.condition);
  }

  /** What of the text is ignored, from which character on; undefined: nothing. */
  get ignored():
    | { readonly position: number; readonly text: string }
    | undefined {
    const { endPosition } = this.#selector;
    return endPosition === undefined
      ? undefined
      : { position: endPosition, text: this.text.slice(endPosition - 1) };
  }

  /** True for a message whose encoded properties make the condition TRUE. */
  matches(propertiesText: string): boolean {
    const { condition } = this.#selector;
    const context = messageEvaluationContext(propertiesText, this.#lookUps);
    return evaluate(condition, context) === true;
  }
}

/** Names of properties in an expression, each as often as it stands there. */
function lookUpsOf(expression: Expression): number {
  switch (expression.kind) {
    case "constant":
      return 0;
    case "property":
    case "booleanCast":
    case "in":
      return 1;
    case "negate":
    case "not":
    case "text":
      return lookUpsOf(expression.operand);
    case "and":
    case "or":
      return sumOf(expression.operands);
    case "equal":
    case "relational":
      return sumOf([expression.left, expression.right]);
    case "between":
      return sumOf([expression.value, expression.low, expression.high]);
  }
}

function sumOf(expressions: readonly Expression[]): number {
  let sum = 0;
  for (const it of expressions) sum += lookUpsOf(it);
  return sum;
}
