// Reads codes and links of emails in tests. It needs Node 20 or later and no packages. README.md beside it says how to use it.
import { randomBytes } from 'node:crypto';

const WAIT_SECONDS = 60;

/**
 * Returns a new address for one test, and functions that wait for its mail.
 *
 * - `domain`: a domain with a catch-all, on which every test has an address such as `t-3f9c@example.com`
 * - or `address`: one address such as `ci@example.com`, of which every test has a plus tag such as `ci+t-3f9c@example.com`
 */
export function openMailbox({ url, key, domain, address, waitSeconds = WAIT_SECONDS }) {
  const name = `t-${randomBytes(8).toString('hex')}`;
  const own = domain === undefined ? address.replace('@', `+${name}@`) : `${name}@${domain}`;
  const since = new Date().toISOString();
  /** IDs of the emails that were returned, the newest last. */
  const seen = [];

  /** Returns the first email since the mailbox was opened that was not returned before. */
  async function wait(filter = {}) {
    const response = await fetch(`${url}/api/e2/emails/wait`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...filter,
        address: own,
        since,
        except_email_ids: seen.slice(-100),
        timeout: waitSeconds,
      }),
    });
    const result = await response.json();
    if (!response.ok) throw new Error(`Postroom responded ${response.status}: ${result.message}`);
    if (result.timed_out) throw new Error(`No email for ${own} within ${waitSeconds} seconds`);
    seen.push(result.email.id);
    return result;
  }

  return {
    address: own,
    /** Returns the next email, with its `codes` and `links`. */
    wait,
    /** Returns the most likely code of the next email; throws if it has none. */
    async code(filter) {
      const { codes, email } = await wait(filter);
      if (codes.length === 0) throw new Error(`“${email.subject}” has no code`);
      return codes[0].code;
    },
    /** Returns the first link of the next email that is not for unsubscribing; throws if it has none. */
    async link(filter) {
      const { links, email } = await wait(filter);
      const found = links.find(({ is_unsubscribe: isUnsubscribe }) => !isUnsubscribe);
      if (found === undefined) throw new Error(`“${email.subject}” has no link`);
      return found.url;
    },
  };
}
