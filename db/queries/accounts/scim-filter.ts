import { type RawBuilder, sql } from 'kysely';
import {
  type Comparison,
  comparedAttribute,
  type ScimFilter,
  type ScimTarget,
} from '../../../core/accounts/scim/filter.ts';

/** Returns the condition of a filter over the rows `r` of users or groups. */
export function scimFilterSql(filter: ScimFilter): RawBuilder<unknown> {
  switch (filter.kind) {
    case 'and':
      return sql`(${scimFilterSql(filter.parts[0])} and ${scimFilterSql(filter.parts[1])})`;
    case 'or':
      return sql`(${scimFilterSql(filter.parts[0])} or ${scimFilterSql(filter.parts[1])})`;
    case 'not':
      return sql`not coalesce(${scimFilterSql(filter.part)}, false)`;
    case 'some':
      return someValueSql(filter.target, (value) => valueFilterSql(filter.part, value));
    case 'present': {
      const { target } = filter;
      if (target.column !== null) return sql`true`;
      if (isMembers(target)) return membersSql(sql`true`);
      if (target.attribute.isMultiple === true && target.sub !== null)
        return someValueSql(target, (value) => sql`${value} ->> ${target.sub?.name ?? ''} is not null`);
      return sql`r.document #> ${target.keys}::text[] is not null`;
    }
    case 'compare':
      return comparedSql(filter.target, filter.comparison, filter.value);
  }
}

function comparedSql(target: ScimTarget, comparison: Comparison, value: string | boolean | null): RawBuilder<unknown> {
  const compared = comparedAttribute(target);
  const isExact = compared.isExact === true;
  switch (target.column) {
    case 'id':
      return compareSql(sql`r.id`, comparison, value, true);
    case 'created':
      return compareSql(timeSql(sql`r.created_at`), comparison, value, true);
    case 'lastModified':
      return compareSql(timeSql(sql`r.updated_at`), comparison, value, true);
    case null:
      break;
  }
  if (isMembers(target))
    return compared.name === 'value'
      ? membersSql(compareSql(sql`m.member_id`, comparison, value, true))
      : membersSql(sql`true`);
  if (target.attribute.isMultiple === true)
    return someValueSql(target, (held) => compareSql(sql`(${held} ->> ${compared.name})`, comparison, value, isExact));
  const keys =
    target.sub === null && target.attribute.type === 'complex' ? [...target.keys, compared.name] : target.keys;
  return compareSql(sql`(r.document #>> ${keys}::text[])`, comparison, value, isExact);
}

const isMembers = ({ attribute, keys }: ScimTarget) => keys.length > 0 && attribute.name === 'members';

/** Members of groups are in a table of their own. */
function membersSql(condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`exists (select from scim_group_member m where m.workspace_id = r.workspace_id and m.group_id = r.id and ${condition})`;
}

function someValueSql(
  target: ScimTarget,
  condition: (value: RawBuilder<unknown>) => RawBuilder<unknown>,
): RawBuilder<unknown> {
  if (isMembers(target)) return membersSql(condition(sql`jsonb_build_object('value', m.member_id, 'type', 'User')`));
  const keys = target.sub === null ? target.keys : target.keys.slice(0, -1);
  return sql`exists (select from jsonb_array_elements(case when jsonb_typeof(r.document #> ${keys}::text[]) = 'array'
    then r.document #> ${keys}::text[] else '[]' end) v (held) where ${condition(sql`v.held`)})`;
}

/** Returns the condition of a filter over one value of an attribute. */
function valueFilterSql(filter: ScimFilter, value: RawBuilder<unknown>): RawBuilder<unknown> {
  switch (filter.kind) {
    case 'and':
      return sql`(${valueFilterSql(filter.parts[0], value)} and ${valueFilterSql(filter.parts[1], value)})`;
    case 'or':
      return sql`(${valueFilterSql(filter.parts[0], value)} or ${valueFilterSql(filter.parts[1], value)})`;
    case 'not':
      return sql`not coalesce(${valueFilterSql(filter.part, value)}, false)`;
    case 'some':
      return sql`false`;
    case 'present':
      return sql`(${value} ->> ${filter.target.attribute.name}) is not null`;
    case 'compare':
      return compareSql(
        sql`(${value} ->> ${filter.target.attribute.name})`,
        filter.comparison,
        filter.value,
        filter.target.attribute.isExact === true,
      );
  }
}

/** As in JSON, in UTC, so that texts compare as times. */
const timeSql = (column: RawBuilder<unknown>) =>
  sql`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

function compareSql(
  held: RawBuilder<unknown>,
  comparison: Comparison,
  value: string | boolean | null,
  isExact: boolean,
): RawBuilder<unknown> {
  if (value === null) return comparison === 'eq' ? sql`${held} is null` : sql`${held} is not null`;
  const text = String(value);
  const left = isExact ? held : sql`lower(${held})`;
  const right = isExact ? text : text.toLowerCase();
  switch (comparison) {
    case 'eq':
      return sql`${left} = ${right}`;
    case 'ne':
      return sql`${left} is distinct from ${right}`;
    case 'co':
      return sql`strpos(${left}, ${right}) > 0`;
    case 'sw':
      return sql`starts_with(${left}, ${right})`;
    case 'ew':
      return sql`right(${left}, length(${right})) = ${right}`;
    case 'gt':
      return sql`${left} collate "C" > ${right}`;
    case 'ge':
      return sql`${left} collate "C" >= ${right}`;
    case 'lt':
      return sql`${left} collate "C" < ${right}`;
    case 'le':
      return sql`${left} collate "C" <= ${right}`;
  }
}
