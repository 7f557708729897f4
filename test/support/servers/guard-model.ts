import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a model is asked, as the server saw it. */
export interface ModelRequest {
  path: string;
  headers: IncomingMessage['headers'];
  body: {
    model: string;
    temperature: number;
    messages: { role: string; content: string }[];
  };
}

/** A response of the model: its judgement, the text of its message, or whatever is done with the response. */
export type ModelScript = { match: boolean; reason: string } | string | ((response: ServerResponse) => void);

export interface GuardModelServer {
  url: string;
  requests: ModelRequest[];
  /** most requests that were open at once */
  mostOpen: () => number;
  stop(): Promise<void>;
}

/** An OpenAI-compatible server on loopback. */
export async function startGuardModel(
  respond: (request: ModelRequest, n: number) => ModelScript | Promise<ModelScript>,
): Promise<GuardModelServer> {
  const requests: ModelRequest[] = [];
  let open = 0;
  let mostOpen = 0;
  const server = createServer((request, response) => {
    open++;
    mostOpen = Math.max(mostOpen, open);
    response.on('close', () => open--);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      const seen = { path: request.url ?? '', headers: request.headers, body };
      requests.push(seen);
      void Promise.resolve(respond(seen, requests.length)).then((script) => {
        if (typeof script === 'function') return script(response);
        const content = typeof script === 'string' ? script : JSON.stringify(script);
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content } }] }));
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    mostOpen: () => mostOpen,
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
