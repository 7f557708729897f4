import { type ComponentType, lazy, type ReactNode, Suspense } from 'react';

/**
 * Returns a component whose code is loaded when it is shown for the first time. `wait` returns what is in its place until then, made from its
 * properties: nothing, if it is absent.
 */
export function later<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  wait: (props: Props) => ReactNode = () => null,
): ComponentType<Props> {
  const Loaded = lazy(async () => ({ default: (await load()) as ComponentType<object> }));
  return function Later(props) {
    return (
      <Suspense fallback={wait(props)}>
        <Loaded {...props} />
      </Suspense>
    );
  };
}
