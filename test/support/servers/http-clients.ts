import { Agent, request } from 'undici';

/** What clients got while they asked without a pause. */
interface ClientReport {
  /** how many responses of each status */
  responses: Record<number, number>;
  /** requests without a response: why */
  failures: string[];
}

export interface Clients {
  /** those that keep their connections alive, and those that have one for each request */
  reports: { kept: ClientReport; single: ClientReport };
  /** Ends when each has its last response. */
  stop(): Promise<void>;
}

/** Clients of each sort at once. */
const CLIENTS = 3;

/** Asks again and again, reading and writing in turn; nobody tries again what failed. */
export function startClients(origin: () => string, key: string, write: (n: number) => object): Clients {
  const kept = new Agent({ keepAliveTimeout: 60_000, connections: CLIENTS });
  const reports = {
    kept: { responses: {}, failures: [] },
    single: { responses: {}, failures: [] },
  } as Clients['reports'];
  let isStopped = false;
  let count = 0;

  const ask = async (report: ClientReport, dispatcher: Agent, isSingle: boolean) => {
    const n = count++;
    const isWrite = n % 2 === 1;
    try {
      const { statusCode, body } = await request(`${origin()}/api/e2/emails`, {
        dispatcher,
        method: isWrite ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: isWrite ? JSON.stringify(write(n)) : null,
        reset: isSingle,
      });
      await body.text();
      report.responses[statusCode] = (report.responses[statusCode] ?? 0) + 1;
    } catch (error) {
      report.failures.push(`${isWrite ? 'POST' : 'GET'} ${String(error)}`);
    }
  };
  const loops = Array.from({ length: CLIENTS }, async () => {
    while (!isStopped) await ask(reports.kept, kept, false);
  });
  const singles = Array.from({ length: CLIENTS }, async () => {
    while (!isStopped) {
      const once = new Agent({ connections: 1 });
      await ask(reports.single, once, true);
      await once.close();
    }
  });
  return {
    reports,
    async stop() {
      isStopped = true;
      await Promise.all([...loops, ...singles]);
      await kept.close();
    },
  };
}
