import { Button } from "@/components/ui/Button";
import { Menu } from "@/components/ui/Menu";
import type { Decision } from "@/lib/chat/state";

// What the cards share that wait for a person's decision.

/** AllowMore allows what is asked and all that a rule matches. */
export function AllowMore({ disabled, onDecide }: { disabled: boolean; onDecide(decision: Decision): void }) {
  return (
    <Menu
      items={[
        { label: "Allow in this chat", onSelect: () => onDecide("allow_chat") },
        { label: "Always allow", onSelect: () => onDecide("allow_always") },
      ]}
    >
      <Button disabled={disabled}>More</Button>
    </Menu>
  );
}
