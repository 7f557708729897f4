import { type HttpLoadResult, httpLoad, httpRequest } from './http-load.ts';
import { AUTHOR, makeRecipient, makeSubject, naturalText } from './messages.ts';

/** Requests of one kind, so many over so many connections. */
export interface HttpOrder {
  port: number;
  count: number;
  connections: number;
  apiKey: string | null;
  path: string;
  /** bytes of the text of the message that each posts; null: a GET */
  post: { sizeBytes: number; tag: string } | null;
  /** what is asked in turn, instead of `path` and `post` */
  requests?: { path: string; body: string | null }[];
}

/** Makes HTTP requests in a process of its own. */
process.on('message', (order: HttpOrder) => {
  void load(order).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });

function load(order: HttpOrder): Promise<HttpLoadResult> {
  const { port, count, connections, apiKey, path, post, requests: given } = order;
  const requests =
    given !== undefined
      ? given.map((each) => httpRequest(each.body === null ? 'GET' : 'POST', each.path, apiKey, each.body ?? undefined))
      : post === null
        ? [httpRequest('GET', path, apiKey)]
        : Array.from({ length: count }, (_, n) =>
            httpRequest(
              'POST',
              path,
              apiKey,
              JSON.stringify({
                from: AUTHOR.text,
                to: makeRecipient(n),
                subject: makeSubject(post.tag, n),
                text: naturalText(post.sizeBytes),
              }),
            ),
          );
  const request = (n: number) => requests[n % requests.length] ?? Buffer.alloc(0);
  return httpLoad({ port, count, connections, request });
}
