import { Component, type ReactNode } from "react";
import { Failed } from "@/components/ui/States";

/** Guard keeps a view that breaks on its data from taking the page along. */
export class Guard extends Component<{ children: ReactNode; instead?: ReactNode; what: string }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error: error ?? new Error("it broke") };
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    return (
      <>
        <Failed what={this.props.what} error={this.state.error} onRetry={() => this.setState({ error: null })} />
        {this.props.instead}
      </>
    );
  }
}
