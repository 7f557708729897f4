import { readRunRecord, readSecrets } from '../../db/cluster/data-directory.ts';

/** The URL of the embedded cluster's owner, from the files that the runner keeps in its data directory. */
export async function singleMachineDatabaseUrl(dataDirectory: string): Promise<string> {
  const [secrets, record] = [await readSecrets(dataDirectory), await readRunRecord(dataDirectory)];
  if (secrets === null || record === null) throw new Error(`${dataDirectory} has never been started`);
  return `postgresql://postroom:${encodeURIComponent(secrets.databasePassword)}@127.0.0.1:${record.databasePort}/postroom`;
}
