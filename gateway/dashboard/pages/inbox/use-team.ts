import { useQuery } from 'urql';
import { graphql } from '../../graphql.ts';
import { useIsInTeam, useViewer } from '../../shell/viewer.ts';

const TEAM = graphql(`query InboxTeam { members { id name email isYou } }`);

/** A member as menus of the inbox name the member. */
export interface TeamMember {
  id: string;
  email: string;
  /** the name, or else the address */
  called: string;
  isYou: boolean;
}

/** Returns the members of the workspace, the signed-in person first; only that person where the others may not be listed. */
export function useTeam(): { members: TeamMember[]; isTeam: boolean } {
  const { person } = useViewer();
  // Members who are limited may not list the others; there are some, since the owner has no limits.
  const isLimited = person?.isLimited === true;
  const isInTeam = useIsInTeam();
  const [{ data }] = useQuery({ query: TEAM, pause: isLimited });
  const found = data?.members ?? [];
  const own =
    person === null || found.some(({ isYou }) => isYou)
      ? []
      : [{ id: person.id, email: person.email, name: person.name, isYou: true }];
  const members = [...own, ...found]
    .map(({ id, email, name, isYou }) => ({ id, email, called: name || email, isYou }))
    .toSorted((one, other) => Number(other.isYou) - Number(one.isYou) || one.called.localeCompare(other.called));
  return { members, isTeam: isInTeam || members.length > 1 };
}
