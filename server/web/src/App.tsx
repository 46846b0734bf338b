import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { useState } from "react";
import { Toasts } from "@/components/ui/Toasts";
import { ApiFault } from "@/lib/api/fault";
import { useTheme } from "@/lib/theme";
import { MainPage } from "@/pages/MainPage";

function newClient() {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        // What the server refused, it will refuse again.
        retry: (count, error) => count < 2 && (!(error instanceof ApiFault) || error.status >= 500),
      },
    },
  });
}

export function App() {
  const [client] = useState(newClient);
  useTheme();
  return (
    <QueryClientProvider client={client}>
      <MainPage />
      <Toasts />
    </QueryClientProvider>
  );
}
