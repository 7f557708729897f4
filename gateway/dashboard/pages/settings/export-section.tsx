import { Button, Group, Text } from '@mantine/core';
import { IconDownload } from '../../parts/icons.ts';
import { Section } from './section.tsx';

/** Downloads all data of the account. */
export function ExportSection() {
  return (
    <Section
      title="Your data"
      about="All mail, threads, domains, endpoints and settings of this account, as one archive: JSON lines for documents, and each message as an .eml file."
    >
      <Text size="sm" c="dimmed">
        Webhook secrets, private keys of domains and API keys are not included. The download starts at once; a large
        account takes minutes.
      </Text>
      <Group>
        <Button
          component="a"
          href="/api/auth/export"
          download
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
        >
          Export account
        </Button>
      </Group>
    </Section>
  );
}
