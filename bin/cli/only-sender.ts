import { CommandError, EXIT } from './command-error.ts';
import type { Server } from './connect.ts';

/** Addresses that an error names. */
const NAMED = 5;

/**
 * Returns the only address that the key can send from. Throws CommandError when there are several, or none: a program must not send from an
 * address that its user did not mean.
 */
export async function onlySender(server: Server): Promise<string> {
  const { data } = await server.get<{ data: { address: string; isActive: boolean }[] }>('/email-addresses', {
    isActive: true,
    limit: 100,
  });
  const [only, ...others] = data.map(({ address }) => address);
  if (only !== undefined && others.length === 0) return only;
  const named = [only, ...others].slice(0, NAMED).join(', ');
  throw new CommandError(
    only === undefined
      ? 'The account has no address to send from.'
      : `The account has ${data.length} addresses: ${named}${data.length > NAMED ? ', …' : ''}.`,
    { exitCode: EXIT.usage, next: 'Give the sender with --from.' },
  );
}
