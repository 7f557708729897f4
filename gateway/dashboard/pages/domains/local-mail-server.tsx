import { Alert, Code, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '../../parts/icons.ts';
import { useViewer } from '../../shell/viewer.ts';

/** Warns that the records name a host that only this machine knows, and says what the operator has to set. Nothing otherwise. */
export function LocalMailServerNote() {
  const { service } = useViewer();
  if (!service.isMailHostnameLocal) return null;
  return (
    <Alert
      color="yellow"
      variant="outline"
      icon={<IconAlertTriangle aria-hidden />}
      title="Do not publish these records yet"
      role="note"
    >
      <Stack gap="xs">
        <Text size="sm">
          They name this service as <Code>{service.mailHostname}</Code>, which no other mail server can reach. Set the
          public name of the server, restart Postroom, and come back: the records then contain that name.
        </Text>
        <Code block>{COMMAND}</Code>
        <Text size="sm">
          The guide docs/deploy/one-server.md goes from an empty server to mail from other providers: DNS, port 25,
          reverse DNS, TLS and the proxy.
        </Text>
      </Stack>
    </Alert>
  );
}

const COMMAND = `MAIL_HOSTNAME=mx.example.com PUBLIC_URL=https://mail.example.com \\
  HOST=0.0.0.0 SMTP_PORT=25 TRUSTED_PROXIES=127.0.0.1 npm start`;
