// What the agents of this folder share: their tools, and the settings for their model.
import { writeFileSync } from "node:fs";
import { z } from "zod";

export const [mode, task] = process.argv.slice(2);
export const baseURL = process.env.OPENAI_BASE_URL;
export const apiKey = process.env.OPENAI_API_KEY;

export const todoWrite = {
  name: "todo_write",
  description: "Write the todo list.",
  schema: z.object({ todos: z.array(z.object({ id: z.string(), content: z.string(), status: z.string() })) }),
  run: async () => "ok",
};

export const writeFile = {
  name: "write_file",
  description: "Write a file.",
  schema: z.object({ file_path: z.string(), content: z.string() }),
  run: async ({ file_path, content }) => {
    writeFileSync(file_path, content);
    return "ok";
  },
};
