import { Anchor, DataList, List, Stack, Text, Timeline, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { exactTime } from '../../parts/time-words.ts';
import { ROUTE } from './email-documents.ts';
import { EmailPart } from './email-part.tsx';
import { durationOf } from './email-words.ts';

const vias: Record<string, string> = {
  ADDRESS: 'the endpoint of its address',
  CATCH_ALL: 'the catch-all of its domain',
  GUARD_RULE: 'a guard rule',
  WEBHOOK: 'the webhook of its address',
};

/** The route of received mail and its reasons. */
export function RoutingTab({ id }: { id: string }) {
  return (
    <EmailPart id={id} query={ROUTE}>
      {({ route }) =>
        route === null ? (
          <Text c="dimmed">Only received mail is routed.</Text>
        ) : (
          <Stack gap="md">
            <Text size="md" fw={600}>
              {route.reason}
            </Text>
            <DataList orientation="horizontal">
              <Fact name="Recipient">{route.recipient}</Fact>
              <Fact name="Accepted by">
                {route.address?.address ??
                  (route.domain === null ? 'a deleted address' : `the catch-all of ${route.domain.name}`)}
              </Fact>
              {route.rule !== null && (
                <Fact name="Guard rule">
                  <Anchor component={Link} href={`/rules/${route.rule.id}`} size="sm" underline="always">
                    {route.rule.name}
                  </Anchor>
                </Fact>
              )}
              {route.endpoint !== null && (
                <Fact name="Endpoint">
                  <Anchor component={Link} href={`/endpoints/${route.endpoint.id}`} size="sm" underline="always">
                    {route.endpoint.name}
                  </Anchor>
                  {route.via === null ? '' : `, by ${vias[route.via] ?? route.via.toLowerCase()}`}
                </Fact>
              )}
            </DataList>
            {route.matches.length > 0 && (
              <div>
                <Title order={2} mb="xs">
                  Matched by the rule
                </Title>
                <List size="sm">
                  {route.matches.map(({ criterion, value }) => (
                    <List.Item key={`${criterion} ${value}`}>
                      {criterion}: “{value}”
                    </List.Item>
                  ))}
                </List>
              </div>
            )}
            <div>
              <Title order={2} mb="sm">
                Steps
              </Title>
              <Timeline bulletSize={16} lineWidth={2} active={route.steps.length - 1}>
                {route.steps.map(({ step, at, detail, durationMs }, index) => (
                  <Timeline.Item
                    // biome-ignore lint/suspicious/noArrayIndexKey: steps have no id, and are only added at the end
                    key={index}
                    title={
                      <Text component="span" size="sm" fw={600}>
                        {step.charAt(0) + step.slice(1).toLowerCase()}
                      </Text>
                    }
                  >
                    <Text size="sm" className="postroom-wrap">
                      {detail}
                    </Text>
                    <Text size="xs" c="dimmed">
                      {at === null ? 'pending' : exactTime(at)}
                      {durationMs === null ? '' : `, ${durationOf(durationMs)}`}
                    </Text>
                  </Timeline.Item>
                ))}
              </Timeline>
            </div>
          </Stack>
        )
      }
    </EmailPart>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <DataList.Item>
      <DataList.ItemLabel>{name}</DataList.ItemLabel>
      <DataList.ItemValue>{children}</DataList.ItemValue>
    </DataList.Item>
  );
}
