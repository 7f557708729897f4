import type { ContentBlock, ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { OperationContext } from '../../operations/context.ts';
import { MAX_KEY_LENGTH } from '../../operations/sending/idempotency.ts';
import { limitEntries } from '../../schema/input-shapes.ts';
import type { FixedAccess } from '../admission/access.ts';
import { checkArguments } from './argument-names.ts';

/** A tool of the MCP server. It calls the operations that REST and GraphQL call, with shapes of REST. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  access: FixedAccess;
  annotations: ToolAnnotations;
  /** time limit, if it differs from that of other requests; milliseconds */
  respondWithinMs?: number | undefined;
  input: z.ZodType;
  output: z.ZodType;
  /** Checks the arguments and runs the tool. Throws what operations throw, and validation. */
  call: (context: OperationContext, given: unknown) => Promise<ToolResult>;
}

export interface ToolResult {
  /** of the tool's output shape; fields named `untrusted` hold what other people wrote */
  data: Record<string, unknown>;
  /** content beside the data, such as links to attachments */
  blocks: ContentBlock[];
}

interface ToolDefinition<Input extends z.ZodObject, Output extends z.ZodObject>
  extends Pick<Tool, 'name' | 'title' | 'description' | 'access' | 'respondWithinMs'> {
  effect: keyof typeof EFFECTS;
  input: Input;
  output: Output;
  /** returns the data; `show` adds content beside it */
  run: (
    context: OperationContext,
    input: z.output<Input>,
    show: (block: ContentBlock) => void,
  ) => Promise<z.input<Output>>;
}

/**
 * What tools do, as annotations. A tool without `readOnlyHint` changes something; without `openWorldHint: false` it shows or sends mail of other
 * people; without `idempotentHint` it acts again.
 */
const EFFECTS = {
  /** reads only what the account itself has set */
  'reads own data': { readOnlyHint: true, openWorldHint: false },
  'reads mail': { readOnlyHint: true },
  /** can be undone, and has no further effect when repeated */
  changes: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
  /** creates something that can be deleted */
  adds: { destructiveHint: false, openWorldHint: false },
  /** overwrites what was there; a repeated call with the same version changes nothing */
  replaces: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
  sends: { destructiveHint: true },
  /** cannot be undone, and has no further effect when repeated */
  cancels: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
} as const satisfies Record<string, Omit<ToolAnnotations, 'title'>>;

/** Defines a tool. Its arguments are checked strictly: a program that misspells one gets to know it. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: ToolDefinition<Input, Output>,
): Tool {
  const { name, title, description, access, respondWithinMs, effect, output, run } = definition;
  const input = definition.input.strict().meta(definition.input.meta() ?? {});
  return {
    name,
    title,
    description,
    access,
    annotations: EFFECTS[effect],
    respondWithinMs,
    input,
    output,
    async call(context, given) {
      limitEntries(given);
      const blocks: ContentBlock[] = [];
      const asked = checkArguments(input, given ?? {}) as z.output<Input>;
      return { data: output.parse(await run(context, asked, (block) => blocks.push(block))), blocks };
    },
  };
}

/** The argument that makes a repeated call return the first result. */
export const idempotencyKey = z.string().min(1).max(MAX_KEY_LENGTH).optional().meta({
  description: 'New for each email.',
});
