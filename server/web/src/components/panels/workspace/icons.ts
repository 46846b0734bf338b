import {
  BookOpen, ChartColumn, Check, CircleCheck, CirclePlus, Code, Database, FileText, FolderTree, GitBranch, Layers, Lightbulb, List,
  MessageCircle, MessageSquare, Package, Pencil, Play, Plus, Search, Sparkles, Star, Table2, TriangleAlert, User, UserPlus, Wrench, Zap,
  type LucideIcon,
} from "lucide-react";
import { own } from "@/lib/workspace/read";

// The names that toolsets may give their payloads; others show as a package.
const icons: Record<string, LucideIcon> = {
  "bar-chart": ChartColumn,
  "book-open": BookOpen,
  chart: ChartColumn,
  check: Check,
  "check-circle": CircleCheck,
  code: Code,
  database: Database,
  edit: Pencil,
  "file-text": FileText,
  folder: FolderTree,
  "git-branch": GitBranch,
  layers: Layers,
  lightbulb: Lightbulb,
  list: List,
  "message-circle": MessageCircle,
  "message-square": MessageSquare,
  pencil: Pencil,
  play: Play,
  plus: Plus,
  "plus-circle": CirclePlus,
  search: Search,
  sparkles: Sparkles,
  star: Star,
  table: Table2,
  user: User,
  "user-plus": UserPlus,
  warning: TriangleAlert,
  wrench: Wrench,
  zap: Zap,
};

export function iconOf(name: string | undefined): LucideIcon {
  return own(icons, name ?? "") ?? Package;
}
