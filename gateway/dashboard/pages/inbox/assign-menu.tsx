import { ActionIcon, Avatar, Menu } from '@mantine/core';
import { useRight } from '../../shell/viewer.ts';
import style from './inbox.module.css';
import { type Assignee, nameAssignee } from './people.ts';
import { useTeam } from './use-team.ts';

/** Shows who works on the conversation, and assigns it; nothing in a workspace with one member. */
export function AssignMenu({
  assignee,
  assign,
}: {
  assignee: Assignee | null;
  /** null: to none */
  assign: (to: Assignee | null) => void;
}) {
  const { members, isTeam } = useTeam();
  const mayAssign = useRight('organize');
  if (!isTeam && assignee === null) return null;
  const called = assignee === null ? null : nameAssignee(assignee);
  const face = <Avatar size={24} radius="xl" name={called ?? ''} color="gray" alt="" aria-hidden />;
  if (!mayAssign) return called === null ? null : <span title={`Assigned to ${called}`}>{face}</span>;
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="main"
          size="lg"
          title={called === null ? 'Assign (i: to you)' : `Assigned to ${called}`}
        >
          {face}
          <span className={style['words']}>{called === null ? 'Assign' : `Assigned to ${called}`}</span>
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown mah={320} style={{ overflowY: 'auto' }}>
        {members.map(({ id, email, called: name, isYou }) => (
          <Menu.Item
            key={id}
            disabled={assignee?.id === id}
            leftSection={<Avatar size={20} radius="xl" name={name} color="gray" alt="" />}
            onClick={() => assign({ id, email, name })}
          >
            {isYou ? 'Assign to me' : `Assign to ${name}`}
          </Menu.Item>
        ))}
        {assignee !== null && (
          <>
            <Menu.Divider />
            <Menu.Item onClick={() => assign(null)}>Remove assignment</Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
