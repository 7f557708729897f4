import {
  Button,
  Checkbox,
  type CheckboxProps,
  Group,
  type MantineSpacing,
  MultiSelect,
  type MultiSelectProps,
  NumberInput,
  type NumberInputProps,
  Select,
  type SelectProps,
  Skeleton,
  Stack,
  Switch,
  type SwitchProps,
  TagsInput,
  type TagsInputProps,
  Textarea,
  type TextareaProps,
  TextInput,
  type TextInputProps,
} from '@mantine/core';
import { type FormValidateInput, type UseFormReturnType, useForm } from '@mantine/form';
import { type ComponentType, createContext, type ReactNode, useContext, useState } from 'react';
import type { CombinedError } from 'urql';
import { FieldComing, useNoField } from '../shell/keys.ts';
import { type NeededRight, needs, QuietButton } from './controls.tsx';
import { ErrorNote } from './page.tsx';
import { formErrors, type Refusal } from './refusal.ts';
import { ErrorAlert } from './text.tsx';

/** A form of one record: Mantine's form, its fields as components whose names are checked, and whether it is being sent. */
export type RecordFormState<Values> = UseFormReturnType<Values> &
  FieldComponents<Values> & {
    isBusy: boolean;
    send: () => Promise<void>;
    /** Shows why something was refused; null: nothing was. */
    refuse: (problem: Refusal | null) => void;
  };

/**
 * Returns the state of a form whose values are sent with `submit`. What the service refuses is shown at the field of the same name (`rename`
 * changes names), or above the buttons. `saved` is called after success.
 */
export function useRecordForm<Values extends object, Outcome extends { problem: Refusal | null }>(props: {
  values: Values;
  validate?: FormValidateInput<Values>;
  submit: (values: Values) => Promise<Outcome>;
  rename?: (fields: Record<string, string>) => Record<string, string>;
  saved?: (outcome: Extract<Outcome, { problem: null }>) => void;
}): RecordFormState<Values> {
  const { values, validate, submit, rename = (fields) => fields, saved } = props;
  const form = useForm<Values>({ initialValues: values, ...(validate && { validate }) });
  const [isBusy, setBusy] = useState(false);
  const refuse = (problem: Refusal | null) => {
    if (problem === null) return form.clearErrors();
    const { message, fields } = problem;
    form.setErrors(formErrors({ message, fields: rename(fields) }, flattenNames(form.getValues())));
  };
  const send = async () => {
    form.clearErrors();
    setBusy(true);
    const outcome = await submit(form.getValues()).finally(() => setBusy(false));
    refuse(outcome.problem);
    if (outcome.problem === null) saved?.(outcome as Extract<Outcome, { problem: null }>);
  };
  return Object.assign({}, form, FIELDS as FieldComponents<Values>, { isBusy, send, refuse });
}

/** Returns the values with those of groups under their paths, such as `policy.perHour`. */
function flattenNames(values: object): object {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]: [string, unknown]) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.keys(value).map((part) => [`${name}.${part}`, true])
        : [[name, true]],
    ),
  );
}

const FormContext = createContext<Pick<UseFormReturnType<object>, 'getInputProps'> | null>(null);

interface FormFrameProps<Values> {
  form: RecordFormState<Values>;
  /** name of the form for screen readers */
  label?: string | undefined;
  gap?: MantineSpacing;
  onInvalid?: ((errors: Record<string, ReactNode>) => void) | undefined;
  children: ReactNode;
}

/** A form whose fields know it, without its buttons. */
export function FormFrame<Values extends object>(props: FormFrameProps<Values>) {
  const { form, label, gap = 'md', onInvalid, children } = props;
  return (
    <FormContext value={form as unknown as Pick<UseFormReturnType<object>, 'getInputProps'>}>
      <form onSubmit={form.onSubmit(() => void form.send(), onInvalid)} noValidate aria-label={label}>
        <Stack gap={gap}>{children}</Stack>
      </form>
    </FormContext>
  );
}

/** Shows a form: its fields, why it could not be saved, and its buttons at the end, or at the start of the line where it is part of a page. */
export function RecordForm<Values extends object>({
  form,
  submit,
  cancel,
  needed,
  aside,
  justify = 'flex-end',
  size = 'sm',
  color,
  isDisabled = false,
  children,
  ...frame
}: FormFrameProps<Values> & {
  /** text of the button */
  submit: string;
  cancel?: () => void;
  /** right that the button needs */
  needed?: NeededRight;
  /** other buttons */
  aside?: ReactNode;
  justify?: 'flex-end' | 'flex-start';
  size?: 'xs' | 'sm';
  /** color of the button, for what cannot be undone */
  color?: 'red' | 'red.9';
  isDisabled?: boolean;
}) {
  return (
    <FormFrame form={form} {...frame}>
      {children}
      <Trouble text={form.errors['problem']} />
      <Group justify={justify}>
        {cancel !== undefined && (
          <QuietButton label="Cancel" size={size} onClick={cancel} data-autofocus={color && true} />
        )}
        <Button
          {...(needed === undefined ? {} : needs(needed))}
          {...(color !== undefined && { color })}
          type="submit"
          size={size}
          loading={form.isBusy}
          disabled={isDisabled}
        >
          {submit}
        </Button>
        {aside}
      </Group>
    </FormFrame>
  );
}

type FormLoadingProps = { height: number; cancel: () => void; error: CombinedError | undefined; retry: () => void };

/** Outline of a form whose choices are being read, or why they cannot be. What is typed goes to its first field; Esc calls `cancel`. */
export function FormLoading({ height, cancel, error, retry }: FormLoadingProps) {
  return error !== undefined ? (
    <NoForm error={error} retry={retry} />
  ) : (
    <>
      <FieldComing cancel={cancel} />
      <Skeleton h={height} aria-label="Loading" />
    </>
  );
}

function NoForm(props: { error: CombinedError; retry: () => void }) {
  useNoField();
  return <ErrorNote {...props} />;
}

/** Says why something did not work. Nothing without a text. */
export function Trouble({ text, title }: { text: ReactNode; title?: string }) {
  if (text == null || text === '') return null;
  return (
    <ErrorAlert role="alert" title={title}>
      {text}
    </ErrorAlert>
  );
}

/** Returns what Mantine's inputs need of the field with this name in the form around them. */
function useField(name: string, type: 'input' | 'checkbox' = 'input'): object {
  const form = useContext(FormContext);
  if (form === null) throw new Error('A field is outside RecordForm');
  return form.getInputProps(name as never, { type });
}

/** Returns a component that shows a field of the form around it. `defaults` are props that most uses share. */
function field<Props extends object>(
  Input: ComponentType<Props>,
  defaults: Partial<Props>,
  type: 'input' | 'checkbox' = 'input',
): ComponentType<Props & { name: string }> {
  return function Field({ name, ...props }) {
    return <Input {...defaults} {...useField(name, type)} {...(props as unknown as Props)} />;
  };
}

const SPLIT_CHARS = [',', ' ', ';'];

/** Fields by the kind of their value. */
export const FIELDS = {
  Text: field<TextInputProps>(TextInput, { autoComplete: 'off' }),
  LongText: field<TextareaProps>(Textarea, { autosize: true }),
  Number: field<NumberInputProps>(NumberInput, { allowDecimal: false, placeholder: 'No limit' }),
  Choice: field<SelectProps>(Select, { allowDeselect: false }),
  Choices: field<MultiSelectProps>(MultiSelect, {}),
  Tags: field<TagsInputProps>(TagsInput, { splitChars: SPLIT_CHARS }),
  Switch: field<SwitchProps>(Switch, {}, 'checkbox'),
  Checkbox: field<CheckboxProps>(Checkbox, {}, 'checkbox'),
};

type FieldComponents<Values> = {
  [Kind in keyof typeof FIELDS]: (typeof FIELDS)[Kind] extends ComponentType<infer Props>
    ? ComponentType<Omit<Props, 'name'> & { name: keyof Values & string }>
    : never;
};
