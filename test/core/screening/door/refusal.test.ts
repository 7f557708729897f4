import { expect, test } from 'vitest';
import {
  boundRefusals,
  type DoorRefusal,
  MAX_OPERATOR_ROWS_OF_HOUR,
  MAX_ROWS_OF_HOUR,
  MAX_ROWS_OF_NETWORK,
  OPERATOR,
  toStoredRefusal,
} from '../../../../core/screening/door/refusal.ts';

const at = new Date('2026-11-29T10:20:00Z');
const make = (changes: Partial<DoorRefusal> = {}) =>
  toStoredRefusal({
    workspaceId: 'wsp_1',
    reason: 'unknown_recipient',
    address: '192.0.2.7',
    network: '192.0.2.0/24',
    helo: 'client.test',
    sender: 'ada@elsewhere.test',
    recipient: 'no@mine.test',
    reply: '550 5.1.1 No such mailbox',
    times: 1,
    at,
    ...changes,
  });

test('the same within an hour has one ID, and another hour, workspace or sender another', () => {
  const { id } = make();
  expect(id).toMatch(/^rfs_[0-9a-f]{32}$/);
  expect(make({ at: new Date('2026-11-29T10:59:59Z'), address: '192.0.2.8', helo: 'other' }).id).toBe(id);
  const others = [
    make({ at: new Date('2026-11-29T11:00:00Z') }),
    make({ workspaceId: 'wsp_2' }),
    make({ workspaceId: null }),
    make({ sender: 'x' }),
    make({ sender: null }),
  ];
  expect(new Set([id, ...others.map((other) => other.id)]).size).toBe(6);
  expect(others[2]?.workspaceId).toBe(OPERATOR);
});

test('texts that the client wrote are storable and short', () => {
  const refusal = make({ recipient: `a\0\ud800${'x'.repeat(5_000)}`, helo: `\0${'y'.repeat(5_000)}` });
  expect(refusal.recipient?.length).toBe(320);
  expect(refusal.recipient?.startsWith('a\ufffd\ufffdx')).toBe(true);
  expect(refusal.helo?.length).toBe(320);
});

test('controls and characters that reverse text are replaced', () => {
  const refusal = make({
    recipient: 'a\u202egnp.exe@mine.test',
    sender: '\u2066x\u200f@y',
    helo: 'a\r\n\u001b[2Jb\u0085',
  });
  expect([refusal.recipient, refusal.sender, refusal.helo]).toEqual([
    'a\ufffdgnp.exe@mine.test',
    '\ufffdx\ufffd@y',
    'a\ufffd\ufffd\ufffd[2Jb\ufffd',
  ]);
});

test('the same refusals are counted in one row', () => {
  const rows = boundRefusals([make(), make({ times: 3 }), make({ recipient: 'other@mine.test' })], new Set(), []);
  expect(rows.map(({ times }) => times)).toEqual([4, 1]);
});

test('a network fills few rows: further refusals are counted without sender and recipient', () => {
  const many = Array.from({ length: 5_000 }, (_, n) => make({ recipient: `no${n}@mine.test` }));
  const rows = boundRefusals(many, new Set(), []);
  expect(rows.length).toBe(MAX_ROWS_OF_NETWORK + 1);
  expect(rows.reduce((sum, { times }) => sum + times, 0)).toBe(5_000);
  expect(rows.at(-1)).toMatchObject({ network: '192.0.2.0/24', sender: null, recipient: null });
  // Another network has rows of its own, and so has another workspace.
  const others = boundRefusals(
    [...many, make({ network: '192.0.3.0/24' }), make({ workspaceId: 'wsp_2' })],
    new Set(),
    [],
  );
  expect(others.length).toBe(rows.length + 2);
});

test('many networks fill few rows of a workspace: further refusals are counted without their network', () => {
  const many = Array.from({ length: 5_000 }, (_, n) => make({ network: `10.${n >> 8}.${n & 255}.0/24` }));
  const rows = boundRefusals(many, new Set(), []);
  expect(rows.length).toBe(MAX_ROWS_OF_HOUR + 1);
  expect(rows.reduce((sum, { times }) => sum + times, 0)).toBe(5_000);
  expect(rows.at(-1)).toMatchObject({ network: null, recipient: null });
  expect(
    boundRefusals(
      many.map((row) => ({ ...row, workspaceId: OPERATOR })),
      new Set(),
      [],
    ).length,
  ).toBe(MAX_OPERATOR_ROWS_OF_HOUR + 1);
});

test('rows that are stored already need no room, and take room from others', () => {
  const hourAt = new Date('2026-11-29T10:00:00Z');
  const rooms = [{ workspaceId: 'wsp_1', hourAt, rows: { '192.0.2.0/24': MAX_ROWS_OF_NETWORK } }];
  const known = make();
  expect(boundRefusals([known], new Set([known.id]), rooms)).toEqual([known]);
  expect(boundRefusals([known], new Set(), rooms)).toMatchObject([{ recipient: null }]);
});
