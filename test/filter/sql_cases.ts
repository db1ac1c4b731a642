/** Expressions and messages on which PocketMQ and Apache's evaluator must agree. */

/** Properties of the messages that every expression is evaluated on. */
export const MESSAGES: readonly Readonly<Record<string, string>>[] = [
  {},
  { a: "5", b: "10", c: "abc", t: "true", n: "-7" },
  { a: "abc", b: "3000000000", c: "5.5", t: "TRUE", n: "+7" },
  { a: "-0.0", b: "0", c: "NaN", t: " 7 ", n: "007", x: "it's" },
  { a: "1e3", b: "1000", c: "0x1.8p3", t: "\uff15", n: "5f", x: "a b" },
  {
    a: "9223372036854775807",
    b: "9223372036854775808",
    c: "-2147483648",
    t: "false",
    n: ".5",
    $y: "5",
    _x: "1",
    A: "6",
  },
  { a: "Infinity", b: "-Infinity", c: "1e400", t: "0x10", n: "1_000", x: "x" },
];

const OPERATORS = ["=", "<>", ">", ">=", "<", "<="];
const OPERANDS = [
  "a",
  "b",
  "missing",
  "5",
  "-5",
  "10L",
  "3000000000",
  "-2147483648",
  "9223372036854775807",
  "5.0",
  "1e3",
  ".5",
  "'abc'",
  "'5'",
  "TRUE",
  "NULL",
  "(a = 5)",
  "-a",
];
const CONDITIONS = ["a = 5", "missing = 1", "a > 1", "b > c", "TRUE", "NULL"];

/** What has gone wrong before, or might. */
const HAND_WRITTEN = String.raw`
|a|TRUE|FALSE|NULL|true|5|'abc'|1.5|-a|+a|- - a = -5|+ + a = 5|-(-5) = 5|+-+5 = -5
a IS NULL|a IS NOT NULL|missing IS NULL|missing IS NOT NULL|5 IS NULL|NULL IS NULL
NULL IS NOT NULL|(a = 5) IS NULL|missing = 1 IS NULL|a IS|a IS NOT|a IS 5|a IS NOT 5
a IS NULL IS NULL|a IS NULL = TRUE|a IS NULL AND b IS NULL OR c IS NULL|IS NULL
a BETWEEN 1 AND 10|a BETWEEN 10 AND 1|a BETWEEN -1 AND 10|a BETWEEN 10 AND -1
a NOT BETWEEN 1 AND 10|a NOT BETWEEN 10 AND 1|a BETWEEN b AND 10|a BETWEEN 1 AND b
a BETWEEN NULL AND 1|a BETWEEN 1 AND NULL|a BETWEEN 'a' AND 'b'|a BETWEEN 1.5 AND 2
a BETWEEN 5 AND 5.0|a BETWEEN 5 AND 4.9|5 BETWEEN 1 AND 10|5 NOT BETWEEN 1 AND 10
missing BETWEEN 1 AND 2|a BETWEEN missing AND 10|a BETWEEN 1 AND missing
a NOT BETWEEN missing AND 1|a NOT BETWEEN 10 AND missing|a BETWEEN 1 10|a BETWEEN 1 AND
a BETWEEN (1) AND (10)|a BETWEEN 1 AND 10 AND b = 10|a BETWEEN TRUE AND FALSE
a BETWEEN 1 AND 10 = TRUE|TRUE = a BETWEEN 1 AND 10|(a = 5) BETWEEN 1 AND 2
-(a BETWEEN 1 AND 9) BETWEEN 1 AND 2|NOT a BETWEEN 1 AND 10|NOT (a BETWEEN 1 AND 10)
a IN ('5')|a IN ('5', 'abc')|a NOT IN ('5')|a NOT IN ('5','abc','x','y','z','5')
missing IN ('5')|missing NOT IN ('5')|a IN ()|a IN (5)|a IN ('5' 'b')|a IN '5'
a IN ('5',)|a IN (,'5')|'5' IN ('5')|-a IN ('5')|(a) IN ('5')|a IN ('a','b','c','d','5')
NOT a IN ('5')|NOT (a IN ('5'))|a IN ('5') = TRUE|a IN ('5') IN ('5')|a NOT '5'|x IN ('it''s')
a NOT = 5|a NOT > 5|NOT|NOT a|NOT NOT a|NOT a = 5|NOT (a = 5)|NOT a = TRUE|NOT -5|NOT 5
NOT 'a'|NOT NULL|NOT TRUE|NOT missing|NOT (missing = 1)|NOT a IS NULL|NOT a > 1
a = 5 AND b = 10|a = 5 OR b = 10|a = 5 AND|AND a = 5|a AND b|a OR b|a AND 5|5 AND a
a = 5 OR missing = 1|a = 5 AND missing = 1|missing = 1 OR a = 5|missing = 1 AND a = 5
a = 5 OR c > 1|c > 1 OR a = 5|a = 5 AND c > 1|c > 1 AND a = 5|a <> 5 AND c > 1
a = 5 AND b = 10 OR c = 'abc'|a = 1 OR b = 10 AND c = 'abc'|(a = 1 OR b = 10) AND c = 'x'
NULL AND FALSE|NULL AND TRUE|NULL OR TRUE|NULL OR FALSE|FALSE AND NULL|TRUE OR NULL
NULL AND NULL|NULL OR NULL|NOT (NULL AND FALSE)|TRUE AND TRUE AND NULL AND FALSE
a = 5 = TRUE|a = 5 = b|(a = 5) = (b = 10)|(a = 5) <> (b = 10)|a = b = c|a = TRUE|TRUE = a
t = TRUE|t = FALSE|TRUE = t|t <> TRUE|(a = 5) = t|t = (a = 5)|TRUE = TRUE|TRUE = FALSE
TRUE = 5|5 = TRUE|'a' = TRUE|TRUE = 'a'|TRUE = NULL|NULL = TRUE|TRUE <> 5|a = NULL|a <> NULL
5 = 5|5 = 5L|5 = 5.0|5 = '5'|'5' = 5|'abc' = 5|5 = 'abc'|'a' = 'a'|'a' = 'A'|5.0 = '5f'
9007199254740993 = 9007199254740992.0|9007199254740993L > 9007199254740992.0|b > 2147483647
b > 2147483648|b > 2147483647.0|b = 3000000000|b = 3000000000.0|a = 9223372036854775807
c = -2147483648|c = -2147483647|c > -2147483648|-2147483648 = c|c < 2147483648
b = 9223372036854775808|-9223372036854775808 = a|a > -9223372036854775807|b > 0.5
missing = missing|missing <> missing|missing > missing|a = missing|missing = a|a <> missing
missing <> a|a > missing|missing > a|a = a|a > a|c = c|c >= c|c > b|b > c|c < c
a > 'abc'|'abc' > a|a > TRUE|TRUE > a|a > NULL|a > (b > 1)|(b > 1) > a|a > -b|-a > b
a > 1 > 2|a > 1 = TRUE|a < 5 < 6|a => 5|a =< 5|a == 5|a != 5|a >< 5|a > = 5|a < > 5|a <=> 5
a >= 5|a<=5|a<>5|a=5|5<a|a=-5|a=--5|a= - -5|a=+5|a = 5;|a = 5 #|a = "5"|a = 5 b|a = 5 5
a = 5)|(a = 5|((a = 5))|()|a = ()|(a) = (5)|(a = 5) (b = 10)|a = 5, b = 10|a = 5 b #
a = 0|a = 00|a = 05|a = 0L|a = 5l|a = 5LL|a = 5a|a = 0.0|a = 0.5|a = 5.|a = .5|a = .|a = 5.5.5
a = 1E3|a = 1e+3|a = 1e-3|a = 1e|a = 1e400|a = 1e-400|a = 4.9e-324|a = 2e-324|a = 1.e3|a = .5e1
a = 1.7976931348623157e308|a = 1.7976931348623159e308|a = 0e0|a = 0x10|a = 1_000|a = 5d|a = 5f
a = 99999999999999999999|a = 9223372036854775808|a = 9223372036854775807L|a = 010.5|a = 1..5
n = 7|n = -7|n = 7.0|n > -8|n = 5|n = 5.0|n = .5|n = 0.5|n < 1|t = 7|t = 7.0|t > 6|t > 6.0|t = 5
t = 16|t = 16.0|c = 12.0|c > 11.5|a > 1e300|b < 1|c > 1e300|a = 'Infinity'|c <> c|n IN ('7')
a = 'it''s'|x = 'it''s'|x = ''''|x = ''|x = '|x = 'a''|x = 'a'b'|x = 'a b'|x = 'A B'|''='' 
_x = 1|$y = 5|A = 6|a1 = 1|1a = 1|a-b = 1|a.b = 1|a$b = 1|$ = 1|_ = 1|\u00e9 = 1|a\u00e9 = 1
\u212a = 1|'\u00e9' = '\u00e9'|'\ud83d\ude00' = '\ud83d\ude00'|a = \uff15|a\u00a0= 5|\ufeffa = 5
a\n=\t5|a\r\n= 5|a\f= 5|a\u000b= 5|a = 5 -- x|a = 5 -- x\n|a = 5 -- x\r AND b = 10|--x\na = 5
a /* x */ = 5|a /* x = 5|a = 5 /* x|a = 5 /**/|/*/ a = 5|/* * / ** */ a = 5|a = 5 /* */ */|a/**/=/**/5
a = 5 - - b|a - 5 = 0|a + 5 = 10|a * 2 = 10|a / 2 = 1|a % 2|a || b|a && b|!a|a like 'x'|a LIKE 5
select * from t|a = 5 and B = 10|A = 6 And _x = 1|nOt a = 5|a Between 1 aNd 10|a iN ('5')|a is nUll
NOTa = 1|a ANDb = 1|a=5AND b=10|a=5and|ORa = 1|INa = 1|isnull = 1|nulls = 1|trues|TRUE1 = 1|b=10OR a=5
c CONTAINS 'b'|c CONTAINS ''|c CONTAINS 5|c CONTAINS b|c NOT CONTAINS 'b'|missing CONTAINS 'b'
missing NOT CONTAINS 'b'|c STARTSWITH 'ab'|c ENDSWITH 'bc'|c NOT STARTSWITH 'ab'|c NOT ENDSWITH 'bc'
5 CONTAINS '5'|'abc' CONTAINS 'b'|(a = 5) CONTAINS 'T'|-a CONTAINS '5'|c CONTAINS 'b' CONTAINS 'x'
c CONTAINS 'b' = TRUE|NOT c CONTAINS 'b'|NOT (c CONTAINS 'b')|c contains 'B'|c CONTAINS 'abcd'
x CONTAINS ''''|c STARTSWITH ''|c NOT STARTSWITH ''|c ENDSWITH 'abc'|c CONTAINS|c CONTAINS NULL
CONTAINS = 1|startswith = 1|c NOT CONTAINS|c IS CONTAINS|c CONTAINS ('b')|c STARTSWITH 'b' OR a = 5
`;

function unescape(text: string): string {
  const named: Record<string, string> = { n: "\n", t: "\t", r: "\r", f: "\f" };
  return text.replace(
    /\\(?:u([0-9a-f]{4})|([ntrf]))/g,
    (_, hex, name) =>
      hex === undefined ? named[name]! : String.fromCharCode(parseInt(hex, 16)),
  );
}

/** A small generator: the table must be the same in every run. */
function randomOf(seed: number): (count: number) => number {
  let state = seed;
  return (count) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor(state / 2 ** 32 * count);
  };
}

const SOUP = [
  ...OPERATORS,
  ..."a b c t n x missing 5 -3 10L 2.5 'abc' '5' TRUE FALSE NULL ( ) , + -"
    .split(" "),
  ..."NOT AND OR BETWEEN IN IS NULL NOT AND".split(" "),
  ..."CONTAINS STARTSWITH ENDSWITH".split(" "),
];

/** Tokens in any order: most are refused, some are cut short, a few are fine. */
function soup(random: (count: number) => number): string {
  return Array.from(
    { length: 1 + random(8) },
    () => SOUP[random(SOUP.length)]!,
  ).join(" ");
}

/** Conditions as the grammar allows them, and operands where they may be refused. */
function grown(random: (count: number) => number, depth: number): string {
  const pick = (list: readonly string[]) => list[random(list.length)]!;
  const operand = () =>
    depth > 0 && random(4) === 0
      ? `(${grown(random, depth - 1)})`
      : pick(["a", "b", "c", "t", "n", "x", "missing", ...OPERANDS]);
  const condition = () =>
    depth > 0 ? grown(random, depth - 1) : pick(CONDITIONS);
  const not = () => pick(["", "NOT "]);
  const text = () => pick(["'5'", "'abc'", "'a'", "'it''s'", "''"]);
  switch (random(9)) {
    case 0:
      return `${condition()} AND ${condition()}`;
    case 1:
      return `${condition()} OR ${condition()}`;
    case 2:
      return `NOT (${condition()})`;
    case 3:
      return `(${condition()})`;
    case 4:
      return `${operand()} ${not()}BETWEEN ${operand()} AND ${operand()}`;
    case 5:
      return `${pick(["a", "c", "x"])} ${not()}IN (${text()}, ${text()})`;
    case 6:
      return `${operand()} IS ${not()}NULL`;
    case 7:
      return `${operand()} ${not()}${
        pick(["CONTAINS", "STARTSWITH", "ENDSWITH"])
      } ${text()}`;
    default:
      return `${operand()} ${pick(OPERATORS)} ${operand()}`;
  }
}

/** The expressions of sql_table.txt, which holds what Apache 5.5.0 makes of them. */
export function tableExpressions(): string[] {
  const random = randomOf(5);
  const more = Array.from({ length: 300 }, () => grown(random, 2));
  const all = [...HAND_WRITTEN.split(/[|\n]/).map(unescape), ...more];
  return [...new Set(all)];
}

/** All expressions, each once; those of the table come first. */
export function sqlExpressions(): string[] {
  const all = tableExpressions();
  for (const left of OPERANDS) {
    for (const operator of OPERATORS) {
      for (const right of OPERANDS) all.push(`${left} ${operator} ${right}`);
    }
  }
  const random = randomOf(92);
  for (let count = 0; count < 1_000; count++) all.push(soup(random));
  for (let count = 0; count < 1_500; count++) all.push(grown(random, 3));
  return [...new Set(all)];
}

/** Words that 4.9 takes for names. */
export function isOf5x(expression: string): boolean {
  return /contains|startswith|endswith/i.test(expression);
}
