import { Anchor, Group, Paper, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { Link } from 'wouter';
import { IconAlertTriangle, IconCircleCheck, IconExclamationCircle, IconInfoCircle } from '../../parts/icons.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';

interface Thing {
  kind: string;
  severity: 'ERROR' | 'WARNING' | 'NOTICE';
  title: string;
  detail: string;
  at: string | null;
  node: { __typename: string; id: string } | null;
}

const looks = {
  ERROR: { icon: IconExclamationCircle, color: 'red', word: 'Error' },
  WARNING: { icon: IconAlertTriangle, color: 'orange', word: 'Warning' },
  NOTICE: { icon: IconInfoCircle, color: 'gray', word: 'Notice' },
};

/** Findings that need the user's attention, most severe first. If there are none, it says so. */
export function ThingsToFix({ things }: { things: Thing[] }) {
  if (things.length === 0)
    return (
      <Group gap="xs">
        <ThemeIcon variant="transparent" color="green" size="sm" aria-hidden>
          <IconCircleCheck size={18} />
        </ThemeIcon>
        <Text size="sm">No problems found.</Text>
      </Group>
    );
  return (
    <Paper withBorder p="md" bg="var(--postroom-raised)" component="section" aria-labelledby="fix-title">
      <Title order={2} id="fix-title" mb="sm">
        Problems to fix
      </Title>
      <Stack gap="sm" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {things.map((thing) => {
          const { icon: Icon, color, word } = looks[thing.severity];
          const path = pathOf(thing);
          return (
            <Group
              key={`${thing.kind} ${thing.node?.id} ${thing.title}`}
              component="li"
              gap="sm"
              wrap="nowrap"
              align="flex-start"
            >
              <ThemeIcon variant="light" color={color} size="md" role="img" aria-label={word}>
                <Icon size={18} aria-hidden />
              </ThemeIcon>
              <div>
                <Text size="sm" fw={600} className="postroom-wrap">
                  {path === null ? (
                    thing.title
                  ) : (
                    <Anchor component={Link} href={path} inherit>
                      {thing.title}
                    </Anchor>
                  )}
                </Text>
                <Text size="sm" c="dimmed" className="postroom-wrap">
                  {thing.detail}{' '}
                  {thing.at !== null && (
                    <>
                      First seen <RelativeTime at={thing.at} />
                    </>
                  )}
                </Text>
              </div>
            </Group>
          );
        })}
      </Stack>
    </Paper>
  );
}

/** Returns the page where it can be fixed; null if there is none. */
function pathOf({ kind, node }: Thing): string | null {
  if (kind === 'MAIL_TO_REVIEW') return '/held?tab=review';
  if (kind === 'SENDING_LIMIT') return '/settings';
  if (kind.startsWith('API_KEY')) return '/keys';
  if (node === null) return null;
  switch (node.__typename) {
    case 'Domain':
      return `/domains/${node.id}`;
    case 'EmailAddress':
      return '/addresses';
    case 'WebhookEndpoint':
    case 'EmailEndpoint':
    case 'EmailGroupEndpoint':
      return `/endpoints/${node.id}`;
    case 'Email':
      return `/emails/${node.id}`;
    default:
      return null;
  }
}
