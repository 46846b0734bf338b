import { AgentsTab } from "@/components/context/AgentsTab";
import { AssetsTab } from "@/components/context/AssetsTab";
import { SettingsTab } from "@/components/context/SettingsTab";
import { ToolsTab } from "@/components/context/ToolsTab";
import { Tabs } from "@/components/ui/Tabs";
import { useUI } from "@/lib/ui";

/** ContextPanel is document 000's: tool toggles, agents, assets, settings. */
export default function ContextPanel() {
  const { contextTab, openContext } = useUI();
  return (
    <Tabs
      label="Tools and settings"
      value={contextTab}
      onChange={openContext}
      tabs={[
        { id: "tools", label: "Tools", content: <ToolsTab /> },
        { id: "agents", label: "Agents", content: <AgentsTab /> },
        { id: "assets", label: "Assets", content: <AssetsTab /> },
        { id: "settings", label: "Settings", content: <SettingsTab /> },
      ]}
    />
  );
}
