import { Group, SegmentedControl, Stack, Tabs, useMantineColorScheme } from '@mantine/core';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import { rememberUndoSeconds, UNDO_CHOICES, undoSeconds } from '../../composer/browser-settings.ts';
import { IconBolt, IconLock, IconMoon, IconServer2, IconSun, IconSunMoon, IconUser } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { useRight } from '../../shell/viewer.ts';
import { DesktopNoticesSection } from './desktop-notices-section.tsx';
import { EraseSection } from './erase-section.tsx';
import { ExportSection } from './export-section.tsx';
import { ImagesSection } from './images-section.tsx';
import { LimitsSection } from './limits-section.tsx';
import { PasskeysSection } from './passkeys-section.tsx';
import { PasswordSection } from './password-section.tsx';
import { ProfileSection } from './profile-section.tsx';
import { ProgramsSection } from './programs-section.tsx';
import { RetentionSection } from './retention-section.tsx';
import { ScimSection } from './scim-section.tsx';
import { SecondFactorSection } from './second-factor-section.tsx';
import { Section } from './section.tsx';
import { ServerSection } from './server-section.tsx';
import { SessionsSection } from './sessions-section.tsx';
import { SingleSignOnSection } from './single-sign-on-section.tsx';
import { SnippetsSection } from './snippets-section.tsx';

const tabs = ['account', 'security', 'snippets', 'service'] as const;

/** The account, its sign-in methods, and facts about the service. */
export function SettingsPage() {
  const [search, setSearch] = useSearchParams();
  const mayRequire = useRight('members');
  const isOwner = useRight('ownership');
  const asked = search.get('tab');
  const tab = tabs.find((one) => one === asked) ?? 'account';
  return (
    <>
      <PageHeader title="Settings" />
      <Tabs
        value={tab}
        onChange={(next) => setSearch(next === 'account' || next === null ? {} : { tab: next }, { replace: true })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="account" leftSection={<IconUser size={16} aria-hidden />}>
            Account
          </Tabs.Tab>
          <Tabs.Tab value="security" leftSection={<IconLock size={16} aria-hidden />}>
            Security
          </Tabs.Tab>
          <Tabs.Tab {...needs('send')} value="snippets" leftSection={<IconBolt size={16} aria-hidden />}>
            Snippets
          </Tabs.Tab>
          <Tabs.Tab value="service" leftSection={<IconServer2 size={16} aria-hidden />}>
            Service
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="account">
          <Stack maw={760}>
            <ProfileSection />
            <AppearanceSection />
            <UndoSection />
            <DesktopNoticesSection />
            <ImagesSection />
            <ExportSection />
            <EraseSection />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="security">
          <Stack maw={760}>
            <PasswordSection />
            <SecondFactorSection mayRequire={mayRequire} />
            <PasskeysSection />
            <SessionsSection />
            {isOwner && <SingleSignOnSection />}
            {isOwner && <ScimSection />}
            <ProgramsSection />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="snippets">
          <Stack maw={760}>
            <SnippetsSection />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="service">
          <Stack maw={760}>
            <LimitsSection />
            <RetentionSection />
            <ServerSection />
          </Stack>
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

/** Light or dark theme. */
function AppearanceSection() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Section title="Appearance" about="Saved in this browser.">
      <Group>
        <SegmentedControl
          aria-label="Color scheme"
          value={colorScheme}
          onChange={(scheme) => setColorScheme(scheme)}
          data={schemes.map(({ value, label, icon: Icon }) => ({
            value,
            label: (
              <Group gap={6} wrap="nowrap">
                <Icon size={16} aria-hidden />
                {label}
              </Group>
            ),
          }))}
        />
      </Group>
    </Section>
  );
}

/** Time to undo sending. */
function UndoSection() {
  const [seconds, setSeconds] = useState(undoSeconds);
  return (
    <Section
      title="Undo send"
      about="An email that you send here waits so long, and its notice has an Undo button. Saved in this browser."
    >
      <Group>
        <SegmentedControl
          aria-label="Time to undo sending"
          value={String(seconds)}
          onChange={(value) => {
            rememberUndoSeconds(Number(value));
            setSeconds(Number(value));
          }}
          data={UNDO_CHOICES.map((choice) => ({
            value: String(choice),
            label: choice === 0 ? 'Off' : `${choice} seconds`,
          }))}
        />
      </Group>
    </Section>
  );
}

const schemes = [
  { value: 'light', label: 'Light', icon: IconSun },
  { value: 'dark', label: 'Dark', icon: IconMoon },
  { value: 'auto', label: 'System', icon: IconSunMoon },
] as const;
