import { type Redactions, redactByName } from '../../core/accounts/redaction.ts';
import type { Right } from '../../core/accounts/rights.ts';
import { redactByShape } from '../../core/accounts/secret-fields.ts';
import { isRecord } from '../../core/shared/is-record.ts';
import { tools } from './tools.ts';

/** A message of MCP as the log has it. */
interface LoggedCall {
  /** name of the tool that it calls, or its method; null when there is none */
  name: string | null;
  request: Record<string, unknown>;
  rights: readonly Right[];
  /** returns the response without secrets */
  redactResponse: (response: unknown) => unknown;
}

const SHOWN_IN_STRUCTURE = '[see structuredContent]';

/** Returns the call of a request, without secrets: by the shapes of the tool, and by the names of fields that no tool has. */
export function readLoggedCall(given: Readonly<Record<string, unknown>>, redactions: Redactions): LoggedCall {
  const { params, method, jsonrpc, id, ...others } = given;
  const call = method === 'tools/call' && isRecord(params) ? params : null;
  const tool = tools.find(({ name }) => name === call?.['name']);
  const title = typeof method === 'string' && /^[a-z]+(?:\/[a-z]+)*$/.test(method) ? method : null;
  const request = {
    jsonrpc: jsonrpc === '2.0' ? jsonrpc : redactions.replace(jsonrpc, 'value'),
    id: redactByName(id, redactions),
    method: title ?? redactions.replace(method, 'value'),
    ...redactAll(others, redactions),
    ...(params === undefined ? {} : { params: redactParams() }),
  };
  return {
    name: tool?.name ?? title,
    request,
    rights: tool?.access.rights ?? [],
    redactResponse(response) {
      if (!isRecord(response)) return redactions.replace(response, 'value');
      const { result, ...rest } = response;
      const shown = redactByName(rest, redactions) as object;
      if (result === undefined) return shown;
      return { ...shown, result: call === null ? redactByName(result, redactions) : redactResult(result) };
    },
  };

  function redactParams(): unknown {
    if (call === null)
      return method === 'tools/call' ? redactions.replace(params, 'value') : redactByName(params, redactions);
    const { name, arguments: input, _meta: meta, ...rest } = call;
    return {
      name: tool?.name ?? redactions.replace(name, 'value'),
      ...(input === undefined
        ? {}
        : { arguments: tool === undefined ? redactions.replace(input, 'value') : redact(tool.input, input) }),
      ...(meta === undefined ? {} : { _meta: redactByName(meta, redactions) }),
      ...redactAll(rest, redactions),
    };
  }

  function redact(shape: (typeof tools)[number]['input'], value: unknown): unknown {
    return redactByShape(value, [shape], redactions);
  }

  /** The text of a result repeats its structure. */
  function redactResult(result: unknown): unknown {
    if (!isRecord(result) || tool === undefined) return redactions.replace(result, 'value');
    const { content, structuredContent, isError, ...rest } = result;
    const blocks = Array.isArray(content) ? content : [];
    return {
      content: blocks.map((block) =>
        isRecord(block) && block['type'] === 'text'
          ? { type: 'text', text: isError === true ? block['text'] : SHOWN_IN_STRUCTURE }
          : { type: isRecord(block) ? block['type'] : null },
      ),
      ...(structuredContent === undefined ? {} : { structuredContent: redact(tool.output, structuredContent) }),
      ...(isError === undefined ? {} : { isError }),
      ...(redactByName(rest, redactions) as object),
    };
  }
}

function redactAll(fields: Readonly<Record<string, unknown>>, redactions: Redactions): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, redactions.replace(value, 'value')]));
}
