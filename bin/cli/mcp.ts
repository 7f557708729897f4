import type { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { Command } from 'commander';
import { addServerOptions, connect, type ServerOptions } from './connect.ts';
import { complain } from './output.ts';

type Message = Parameters<StdioServerTransport['send']>[0];

export function addMcpCommand(program: Command): void {
  const command = program
    .command('mcp')
    .description('Serves the tools of the server at stdin and stdout, for clients of MCP that start a program.');
  addServerOptions(command)
    .addHelpText(
      'after',
      '\nConfiguration of common clients: docs/agents.md\n\nExample:\n  $ postroom mcp --url https://mail.example.com',
    )
    .action(serveMcp);
}

/** JSON-RPC code for a fault of the server. */
const INTERNAL_ERROR = -32_603;

/**
 * Passes messages between stdin, stdout and `/mcp` of the server until stdin ends. Requests that are open then get their replies first. stdout has
 * nothing but messages of the protocol.
 */
async function serveMcp(options: ServerOptions): Promise<void> {
  const { url, readKey } = await connect(options);
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const stdio = await import('@modelcontextprotocol/server/stdio');
  const server = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    // Each request has the key, since that of postroom login changes.
    fetch: async (target, init = {}) => {
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${await readKey()}`);
      return fetch(target, { ...init, headers, redirect: 'manual' });
    },
  });
  const client = new stdio.StdioServerTransport();
  const open = new Set<Promise<void>>();
  let initializeId: unknown;

  const pass = async (message: Message): Promise<void> => {
    if ('method' in message && message.method === 'initialize' && 'id' in message) initializeId = message.id;
    try {
      await server.send(message);
    } catch (error) {
      const text = `${url}/mcp: ${error instanceof Error ? describe(error) : String(error)}`;
      complain(text);
      if ('method' in message && 'id' in message)
        write({ jsonrpc: '2.0', id: message.id, error: { code: INTERNAL_ERROR, message: text } });
    }
  };
  // Not by the transport, which writes nothing after the end of stdin.
  const write = (message: Message) => void process.stdout.write(`${JSON.stringify(message)}\n`);
  server.onmessage = (message) => {
    if ('result' in message && message.id === initializeId) {
      const { protocolVersion } = message.result as { protocolVersion?: unknown };
      if (typeof protocolVersion === 'string') server.setProtocolVersion(protocolVersion);
    }
    write(message);
  };
  client.onmessage = (message) => {
    const passed = pass(message).finally(() => open.delete(passed));
    open.add(passed);
  };
  client.onerror = (error) => complain(error.message);
  const ended = new Promise<void>((resolve) => {
    client.onclose = resolve;
  });
  await server.start();
  await client.start();
  await ended;
  await Promise.all(open);
  await server.close();
}

/** The reason for the person who reads the log of the client. */
function describe(error: Error): string {
  const { cause } = error as { cause?: { message?: string } };
  return cause?.message === undefined || cause.message === '' ? error.message : `${error.message} (${cause.message})`;
}
