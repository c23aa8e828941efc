import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  isAwaitExpression,
  isBinaryExpression,
  isBlock,
  isCallExpression,
  isConditionalExpression,
  isExpressionStatement,
  isIfStatement,
  isNumericLiteral,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isReturnStatement,
  isThrowStatement,
  isTypeNode,
  type Node,
  type SourceFile,
  SyntaxKind,
} from "typescript/unstable/ast";
import { API } from "typescript/unstable/sync";

/** One small change of one source file. */
export interface Mutant {
  /** Relative to the root. */
  readonly file: string;
  readonly line: number;
  readonly kind: string;
  /** Where the change begins and ends in the file's text. */
  readonly start: number;
  readonly end: number;
  readonly before: string;
  readonly after: string;
}

type Change = readonly [kind: string, node: Node, after: string];

/** Every mutant of these files. Types, logs and texts are left as they are. */
export function findMutants(root: string, files: readonly string[]): Mutant[] {
  const api = new API({ cwd: root });
  const snapshot = api.updateSnapshot({ openProject: join(root, "tsconfig.json") });
  const program = snapshot.getProjects()[0]?.program;
  const mutants = files.flatMap((file) => {
    const source = program?.getSourceFile(join(root, file));
    if (!source) throw new Error(`${file} is no part of tsconfig.json`);
    return mutantsOf(file, readFileSync(join(root, file), "utf8"), source);
  });
  api.close();
  return mutants;
}

function mutantsOf(file: string, text: string, source: SourceFile): Mutant[] {
  const found: Mutant[] = [];
  const visit = (node: Node): void => {
    if (isTypeNode(node) || isLog(isExpressionStatement(node) ? node.expression : node, text)) return;
    for (const [kind, part, after] of changesOf(node, text)) {
      const [start, end] = [part.getStart(source), part.end];
      const line = text.slice(0, start).split("\n").length;
      const before = text.slice(start, end);
      if (before !== after) found.push({ file, line, kind, start, end, before, after });
    }
    node.forEachChild(visit);
  };
  visit(source);
  return found;
}

/** What operators become. */
const OPERATORS: Readonly<Partial<Record<SyntaxKind, readonly string[]>>> = {
  [SyntaxKind.EqualsEqualsEqualsToken]: ["!=="],
  [SyntaxKind.ExclamationEqualsEqualsToken]: ["==="],
  [SyntaxKind.LessThanToken]: ["<=", ">="],
  [SyntaxKind.LessThanEqualsToken]: ["<", ">"],
  [SyntaxKind.GreaterThanToken]: [">=", "<="],
  [SyntaxKind.GreaterThanEqualsToken]: [">", "<"],
  [SyntaxKind.AmpersandAmpersandToken]: ["||"],
  [SyntaxKind.BarBarToken]: ["&&"],
  [SyntaxKind.PlusToken]: ["-"],
  [SyntaxKind.MinusToken]: ["+"],
  [SyntaxKind.AsteriskToken]: ["/"],
  [SyntaxKind.SlashToken]: ["*"],
};

/** What methods become. */
const METHODS = new Map(Object.entries({ some: "every", every: "some", min: "max", max: "min" }));

function changesOf(node: Node, text: string): Change[] {
  if (isBinaryExpression(node)) return changesOfBinary(node.operatorToken, node.left, node, text);
  if (isIfStatement(node)) return constants("condition", node.expression);
  if (isConditionalExpression(node)) return constants("condition", node.condition);
  if (isExpressionStatement(node) && isCall(node.expression)) return [["drop call", node, ";"]];
  if (isThrowStatement(node)) return [["drop throw", node, ";"]];
  // For most callers `false` is nothing; that it becomes `true` is another mutant.
  if (isReturnStatement(node) && node.expression && node.expression.kind !== SyntaxKind.FalseKeyword)
    return [["return nothing", node.expression, "undefined"]];
  if (isNumericLiteral(node)) return [["constant", node, node.text === "0" ? "1" : "0"]];
  if (isPropertyAccessExpression(node) && METHODS.has(node.name.text))
    return [["method", node.name, METHODS.get(node.name.text) ?? ""]];
  if (isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken)
    return [["drop not", node, text.slice(node.operand.pos, node.end).trim()]];
  if (node.kind === SyntaxKind.TrueKeyword) return [["constant", node, "false"]];
  if (node.kind === SyntaxKind.FalseKeyword) return [["constant", node, "true"]];
  if (isBlock(node) && isBodyOfFunction(node) && node.statements.length > 1) return [["empty body", node, "{}"]];
  return [];
}

function changesOfBinary(operator: Node, left: Node, whole: Node, text: string): Change[] {
  if (operator.kind === SyntaxKind.QuestionQuestionToken)
    return [["drop default", whole, text.slice(left.pos, left.end).trim()]];
  return (OPERATORS[operator.kind] ?? []).map((after): Change => ["operator", operator, after]);
}

const constants = (kind: string, node: Node): Change[] => ["true", "false"].map((after) => [kind, node, after]);

const isCall = (node: Node): boolean =>
  isCallExpression(node) || (isAwaitExpression(node) && isCallExpression(node.expression));

const isBodyOfFunction = ({ parent }: Node): boolean =>
  [SyntaxKind.FunctionDeclaration, SyntaxKind.MethodDeclaration, SyntaxKind.ArrowFunction].includes(parent.kind);

/** What is written to a log is for people. */
const isLog = (node: Node, text: string): boolean =>
  isCallExpression(node) && /^\s*(\w+\.)?log\.(info|warn|error)$/.test(text.slice(node.pos, node.expression.end));
