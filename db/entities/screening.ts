import { defineEntity, p } from '@mikro-orm/core';
import type { DoorReason } from '../../core/screening/door/refusal.ts';

/** Mail that was refused before it was accepted: one row for the same within an hour. */
export const DoorRefusalSchema = defineEntity({
  name: 'DoorRefusal',
  tableName: 'door_refusal',
  properties: {
    /** OPERATOR: of no workspace */
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    /** the first time within the hour */
    createdAt: p.datetime(3),
    hourAt: p.datetime(3),
    lastAt: p.datetime(3),
    reason: p.text().$type<DoorReason>(),
    /** the last one */
    clientAddress: p.text(),
    /** null: of several */
    network: p.text().nullable(),
    /** the last one */
    helo: p.text().nullable(),
    /** empty for bounces; null: of several, or not known yet */
    sender: p.text().nullable(),
    recipient: p.text().nullable(),
    /** the last one, with its code */
    reply: p.text(),
    times: p.integer(),
  },
  indexes: [
    { name: 'door_refusal_age', properties: ['lastAt'] },
    { name: 'door_refusal_hour', properties: ['workspaceId', 'hourAt'] },
    {
      name: 'door_refusal_list',
      columns: [{ name: 'workspaceId' }, { name: 'createdAt', sort: 'desc' }, { name: 'id', sort: 'desc' }],
    },
  ],
  checks: [{ name: 'door_refusal_times_check', expression: '(times > 0)' }],
});

/** A first contact of a network with a workspace: network, domain of the sender and recipient, which the ID is made from. */
export const GreylistSchema = defineEntity({
  name: 'Greylist',
  tableName: 'greylist',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    network: p.text(),
    firstAt: p.datetime(3),
    lastAt: p.datetime(3),
    /** when it was repeated in time; null: not yet */
    passedAt: p.datetime(3).nullable(),
  },
  indexes: [
    { name: 'greylist_age', properties: ['lastAt'] },
    { name: 'greylist_network', properties: ['workspaceId', 'network'] },
  ],
});
