import a11y from "eslint-plugin-jsx-a11y";
import hooks from "eslint-plugin-react-hooks";
import ts from "typescript-eslint";

export default ts.config(
  { ignores: ["dist", "node_modules", "src/lib/api/schema.d.ts"] },
  ...ts.configs.recommended,
  a11y.flatConfigs.recommended,
  hooks.configs.flat.recommended,
  {
    rules: {
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      // A dialog and a list that opens move the focus into themselves.
      "jsx-a11y/no-autofocus": "off",
      // Markup of strangers goes through react-markdown and a sanitiser, or into a frame of another origin.
      "no-restricted-syntax": ["error", { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: "no markup of strangers" }],
    },
  },
);
