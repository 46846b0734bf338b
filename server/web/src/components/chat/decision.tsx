import { useEffect, useState } from "react";
import { Button } from "@/components/ui/Button";
import { Menu } from "@/components/ui/Menu";
import type { Decision } from "@/lib/chat/state";

// What the cards share that wait for a person's decision.

// A card that appears under a finger or a pointer isn't what they meant.
const settle = 600;

/** useSettled is false for a moment after a card has appeared, and after another question has taken its place. */
export function useSettled(question: unknown = null): boolean {
  const [settled, setSettled] = useState<{ question: unknown } | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setSettled({ question }), settle);
    return () => clearTimeout(timer);
  }, [question]);
  return settled !== null && settled.question === question;
}

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
