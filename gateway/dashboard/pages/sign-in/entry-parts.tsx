import { Button, Group, Paper, PasswordInput, type PasswordInputProps, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { type ComponentProps, type ReactNode, useEffect, useState } from 'react';
import { FormFrame, type RecordFormState, Trouble } from '../../parts/form.tsx';
import { Icon } from '../../parts/icons.ts';
import { ErrorAlert, Hint, PageLink, Small } from '../../parts/text.tsx';
import { useFirstField } from '../../shell/keys.ts';
import { type AuthProblem, type AuthSettings, auth } from './auth-calls.ts';
import classes from './entry-card.module.css';

interface EntryCardProps {
  title: string;
  about?: ReactNode;
  children: ReactNode;
  /** links below the card */
  below?: ReactNode;
}

/** Layout of the pages before sign-in: the name of the service, and one card. */
export function EntryCard({ title, about, children, below }: EntryCardProps) {
  useDocumentTitle(`${title} · Postroom`);
  return (
    <main className={classes.page}>
      <Group gap="sm">
        <img src="/postroom.svg" alt="" width={40} height={40} />
        <Text fw={700} fz={24} lts="-0.01em">
          Postroom
        </Text>
      </Group>
      <Paper className={classes.card} withBorder shadow="md" radius="lg" p={{ base: 'lg', xs: 'xl' }}>
        <Stack gap="md">
          <Stack gap={4}>
            <Title order={1} className="postroom-wrap">
              {title}
            </Title>
            {about !== undefined && (
              <Hint component="div" role="status" className="postroom-wrap">
                {about}
              </Hint>
            )}
          </Stack>
          {children}
        </Stack>
      </Paper>
      {below !== undefined && (
        <Hint ta="center" component="div">
          {below}
        </Hint>
      )}
    </main>
  );
}

/** A link below the card of such a page. */
export function EntryLink(props: ComponentProps<typeof PageLink>) {
  return <PageLink underline="always" {...props} />;
}

/** Shows the error of an account request. */
export function AuthProblemNote({ problem }: { problem: AuthProblem | null }) {
  if (problem === null) return null;
  const icon = problem.status === 429 ? 'clock-pause' : 'alert-triangle';
  return (
    <ErrorAlert icon={<Icon name={icon} />} role="alert" py="sm">
      <Small>{problem.message}</Small>
    </ErrorAlert>
  );
}

interface EntryFormProps<Values> {
  form: RecordFormState<Values>;
  /** name of the form for screen readers */
  label: string;
  /** text of the button */
  submit: string;
  isBusy?: boolean;
  isDisabled?: boolean;
  children: ReactNode;
  /** other ways, below the button */
  others?: ReactNode;
}

/** The form of a page before sign-in. Its field with `data-autofocus` has the focus when it appears. */
export function EntryForm<Values extends object>(props: EntryFormProps<Values>) {
  const { form, label, submit, isBusy = form.isBusy, isDisabled = false, children, others } = props;
  useFirstField();
  return (
    <FormFrame form={form} label={label}>
      <Trouble text={form.errors['problem']} />
      {children}
      <Button type="submit" loading={isBusy} disabled={isDisabled} fullWidth>
        {submit}
      </Button>
      {others}
    </FormFrame>
  );
}

/** Allowed length of a password in characters. */
const LENGTH = { least: 10, most: 128 };

/** Returns why a password is not allowed; null if it is. */
export function newPasswordFault(password: string): string | null {
  if (password.length < LENGTH.least) return `Must have at least ${LENGTH.least} characters.`;
  if (password.length > LENGTH.most) return `Must have at most ${LENGTH.most} characters.`;
  return null;
}

/** Field for a new password. The user can show it, so it is entered only once. */
export function NewPassword(props: PasswordInputProps) {
  return (
    <Password
      label="Password"
      description={`${LENGTH.least} characters or more. Four unrelated words make a good password.`}
      autoComplete="new-password"
      {...props}
    />
  );
}

/** Field for a password. */
export function Password(props: PasswordInputProps) {
  return (
    <PasswordInput
      label="Password"
      autoComplete="current-password"
      visibilityToggleFocusable
      visibilityToggleButtonProps={{ 'aria-label': 'Show password' }}
      {...props}
    />
  );
}

/** Returns why a text is not an email address; null if it may be one. The service validates it. */
export function emailFault(text: string): string | null {
  if (text.trim() === '') return 'Enter your email address.';
  return /^[^\s@]+@[^\s@]+$/.test(text.trim()) ? null : 'Enter an address such as you@example.com.';
}

/** Returns the token in the fragment of one of our links, `#TOKEN` or `#token=TOKEN`; null if there is none. */
export function linkToken(hash: string): string | null {
  const text = hash.replace(/^#/, '');
  const token = new URLSearchParams(text).get('token') ?? text;
  return /^[\w-]+$/.test(token) ? token : null;
}

/** What is possible before sign-in; null while loading. */
export function useAuthSettings(): AuthSettings | null {
  const [settings, setSettings] = useState<AuthSettings | null>(null);
  useEffect(() => {
    let isGone = false;
    void auth.settings().then(({ result }) => {
      if (!isGone) setSettings(result);
    });
    return () => {
      isGone = true;
    };
  }, []);
  return settings;
}
