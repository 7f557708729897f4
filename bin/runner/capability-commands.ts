import { capabilities } from '../../operations/capability/capabilities.ts';

/**
 * Returns the file bin/cli/capability-commands.ts: the commands that capabilities declare, as data, because the CLI is a single file that knows
 * no operation.
 */
export function writeCapabilityCommands(): string {
  const commands = capabilities.flatMap(({ path, command }) => (command === undefined ? [] : [{ path, ...command }]));
  return `/** Written by \`npm run contracts\` from operations/capability/capabilities.ts. */
export const capabilityCommands = ${JSON.stringify(commands, null, 2)} as const;
`;
}
