export interface ByteLimits {
  /** bytes of one account on this gateway */
  perAccount: number;
  /** bytes of all accounts on this gateway */
  perProcess: number;
}

/** Counts bytes in memory, by account. */
export interface ByteLedger {
  /** Counts bytes if there is room, else returns which limit is reached. `reserve` is allowed beyond the limit of the process. */
  take(account: string, bytes: number, reserve?: number): 'taken' | 'account-full' | 'process-full';
  giveBack(account: string, bytes: number): void;
  /** Returns the bytes that are counted now: of an account, or of all. */
  count(account?: string): number;
}

export function createByteLedger({ perAccount, perProcess }: ByteLimits): ByteLedger {
  const bytesOfAccounts = new Map<string, number>();
  let total = 0;

  function add(account: string, bytes: number): void {
    total += bytes;
    const left = (bytesOfAccounts.get(account) ?? 0) + bytes;
    if (left > 0) bytesOfAccounts.set(account, left);
    else bytesOfAccounts.delete(account);
  }

  return {
    take(account, bytes, reserve = 0) {
      if ((bytesOfAccounts.get(account) ?? 0) + bytes > perAccount) return 'account-full';
      if (total + bytes > perProcess + reserve) return 'process-full';
      add(account, bytes);
      return 'taken';
    },
    giveBack: (account, bytes) => add(account, -bytes),
    count: (account) => (account === undefined ? total : (bytesOfAccounts.get(account) ?? 0)),
  };
}
