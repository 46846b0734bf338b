// Made by scripts/types.mjs from openapi.json. Not to be edited.
/* eslint-disable */

export interface paths {
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The page */
        get: operations["get_front_page"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agui": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A run of AG-UI: the last message of a thread, answered as its events */
        post: operations["agui_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/aisdk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The last message of a conversation, answered as a UI message stream of the AI SDK */
        post: operations["aisdk_chat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/aisdk/{thread}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Follow the turn that runs in a conversation, from its beginning */
        get: operations["aisdk_resume"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The agents that a turn can enter by */
        get: operations["list_agents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents/{agent}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** An agent with its prompt */
        get: operations["get_agent"];
        put?: never;
        post?: never;
        /** Remove an agent that the user made */
        delete: operations["delete_agent"];
        options?: never;
        head?: never;
        /** Change fields of an agent that the user made; fields that are left out stay */
        patch: operations["update_agent"];
        trace?: never;
    };
    "/api/agents/{agent}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** An agent as the text of a configuration that describes it */
        get: operations["export_agent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/available-tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The tools that a turn can be offered now */
        get: operations["get_available_tools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ollama's chat, as lines of JSON unless stream is off */
        post: operations["ollama_chat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Chats, the last used first */
        get: operations["list_chats"];
        put?: never;
        /** Make a chat before anything is asked in it */
        post: operations["create_chat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A chat, by number or id, and the turn that runs in it */
        get: operations["get_chat"];
        put?: never;
        post?: never;
        /** Delete a chat; it can be brought back for 30 days */
        delete: operations["delete_chat"];
        options?: never;
        head?: never;
        /** Change a chat's title, or its mode of approvals */
        patch: operations["rename_chat"];
        trace?: never;
    };
    "/api/chats/{chat}/branches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The branches of a chat */
        get: operations["list_branches"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/edit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ask a question in other words, as another branch */
        post: operations["edit_message"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Follow the turn that runs in a chat; the ids of events name it, so that a client comes back to the same one */
        get: operations["follow_chat"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make a chat that begins with the messages of another */
        post: operations["fork_chat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The last messages of the active branch, oldest first */
        get: operations["list_messages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/payloads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The payloads that were shown in a chat, and what became of them */
        get: operations["list_payloads"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/payloads/{payload}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A payload, and how it is shown */
        get: operations["get_payload"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/payloads/{payload}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Accept a payload, once; a tool that its type names runs then */
        post: operations["accept_payload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/payloads/{payload}/artifact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The page of a payload at an address of its own, as open_artifact has it */
        post: operations["open_payload_artifact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/payloads/{payload}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reject a payload, once */
        post: operations["reject_payload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/payloads/{payload}/text": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Store the text that the user made of a payload's; the model gets it with the next question */
        put: operations["edit_payload"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Bring a deleted chat back, by its number */
        post: operations["restore_chat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ask a question again, as another branch */
        post: operations["retry_message"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/switch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Go on in another branch, with its files */
        post: operations["switch_branch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/workspace/cut-calls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The calls that were cut off before their changes were applied, in the chat or in its folder */
        get: operations["list_cut_calls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/workspace/cut-calls/{call}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The changes of a call that was cut off, as they would be applied */
        get: operations["review_cut_call"];
        put?: never;
        post?: never;
        /** Discard the changes of a call that was cut off */
        delete: operations["discard_cut_call"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/workspace/cut-calls/{call}/apply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Apply the changes of a call that was cut off, as a step that undo reverts */
        post: operations["apply_cut_call"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/workspace/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What differs between two states */
        get: operations["diff_workspace"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/workspace/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The files of a chat */
        get: operations["get_workspace_files"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/workspace/files/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The content of a file, or the part of it that Range asks for */
        get: operations["get_workspace_file"];
        /** Write a file; undo takes it back. If-Match takes the ETag of what it replaces */
        put: operations["put_workspace_file"];
        post?: never;
        /** Remove a file, or a folder with all in it; undo takes it back */
        delete: operations["delete_workspace_file"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/workspace/manifest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A state as {path: sha256} */
        get: operations["get_workspace_manifest"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/workspace/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Give a file or a folder another path, which nothing has; undo takes it back */
        post: operations["move_workspace_file"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/workspace/redo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Bring back what undo has taken away */
        post: operations["redo_workspace"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/workspace/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Bring a state back */
        post: operations["restore_workspace"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/workspace/states": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The states of a chat's files, the latest first */
        get: operations["list_workspace_states"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/workspace/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Revert what the last steps, or one call, did to files */
        post: operations["undo_workspace"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/copy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Refused: only Ollama itself can do this */
        post: operations["ollama_copy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Refused: only Ollama itself can do this */
        post: operations["ollama_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Have Ollama delete a model */
        delete: operations["ollama_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/deleted-chats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Chats that can be brought back */
        get: operations["list_deleted_chats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/documents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The stored documents */
        get: operations["list_documents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/documents/{document}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A document, by its id or name */
        get: operations["get_document"];
        /** Store a text or an image under a name */
        put: operations["put_document"];
        post?: never;
        /** Remove a document; it can be brought back for 30 days */
        delete: operations["delete_document"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/documents/{document}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a document holds */
        get: operations["get_document_content"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/documents/{document}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Bring a removed document back */
        post: operations["restore_document"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/embed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ollama's embeddings */
        post: operations["ollama_embed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/embeddings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ollama's older embeddings, of one text */
        post: operations["ollama_embeddings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gallery": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The toolsets that are part of the program */
        get: operations["list_gallery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/gallery/{toolset}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Look at a toolset of the gallery; with `approve` install it */
        post: operations["import_gallery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/generate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ollama's generate: a question, or a text that is continued where there is a suffix or raw is set */
        post: operations["ollama_generate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make an address of one file that needs no token for 12 hours, or until the server ends: for players, which send no header */
        post: operations["create_link"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The MCP servers that toolsets and the user brought, without their secrets */
        get: operations["list_mcp_servers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/{server}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Switch an MCP server on or off */
        post: operations["enable_mcp_server"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/{server}/look": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Connect to an MCP server and list what it has; with the `approve` of an answer, the tools that it showed are taken instead */
        post: operations["look_at_mcp_server"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/mcp-servers/{server}/remove": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Remove an MCP server that the user added */
        post: operations["remove_mcp_server"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What each provider offers */
        get: operations["list_models"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/open": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The token for a code that the server has given a browser at its start; once */
        post: operations["open_page"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/owner/server": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Which server this is (Unix socket only) */
        get: operations["get_server"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/owner/store": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Have the store shared with other processes for as long as the answer isn't ended (Unix socket only) */
        get: operations["share_store"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/owner/turns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ask as a command of fettle does, which owns its turn: when it goes, the turn is cancelled (Unix socket only) */
        post: operations["begin_turn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/owner/turns/{turn}/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Allow or deny a call of a turn (Unix socket only) */
        post: operations["answer_call"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/page": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What the page needs at its start */
        get: operations["get_page"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/payload-types": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The payload types and pages that there are, with how they look */
        get: operations["list_payload_types"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/ps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The models that Ollama has in memory */
        get: operations["ollama_ps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/pull": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Have Ollama fetch a model */
        post: operations["ollama_pull"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/push": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Refused: only Ollama itself can do this */
        post: operations["ollama_push"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Chats in which words occur */
        get: operations["search_chats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/search/documents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Passages of documents, found by words, and by meaning if an embedding model is configured, the best first. The first search by meaning sends the text of the documents to the model's provider */
        get: operations["search_documents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/services": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The tools that live on after their calls */
        get: operations["list_services"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The configuration in force, without its secrets */
        get: operations["get_settings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/show": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What a model of Ollama's list can do */
        post: operations["ollama_show"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ask something, and follow the answer; the turn is cancelled when the client goes away, unless `detach` is set */
        post: operations["stream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Ollama's list of models, with the agents as fettle/AGENT */
        get: operations["ollama_tags"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tool-calls/{call}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A tool call that has ended, whole */
        get: operations["get_tool_call"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tool-calls/{call}/app/resources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Read a resource for the page that an MCP server has for a call; of that server alone */
        post: operations["read_app_resource"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tool-calls/{call}/app/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Call a tool for the page that an MCP server has for a call; of that server alone */
        post: operations["call_app_tool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tool-calls/{call}/artifact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The page of a call at an address of its own, on another origin, for some minutes */
        post: operations["open_artifact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tool-calls/{call}/render": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How a call is shown; a page of its own, where it has one */
        get: operations["get_render_document"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tool-calls/{call}/service": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the service of a call runs, and why it doesn't */
        get: operations["get_service"];
        put?: never;
        /** Make the call of a service anew, as a turn of the chat that asks for approvals as any */
        post: operations["restart_service"];
        /** End the service of a call */
        delete: operations["stop_service"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All tools: builtin, of toolsets, of MCP servers */
        get: operations["list_tools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tools/{tool}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A tool, and how its calls are shown */
        get: operations["get_tool"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tools/{tool}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Switch a tool on or off */
        post: operations["enable_tool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/toolsets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The installed toolsets */
        get: operations["list_toolsets"];
        put?: never;
        /** Look at a bundle; with `approve` install it */
        post: operations["import_toolset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/toolsets/{toolset}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A toolset with its tools */
        get: operations["get_toolset"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/toolsets/{toolset}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Switch a toolset on or off */
        post: operations["enable_toolset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/toolsets/{toolset}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A toolset as a ZIP */
        get: operations["export_toolset"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/toolsets/{toolset}/uninstall": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Remove a toolset */
        post: operations["uninstall_toolset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/turns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ask something; the answer's stream is at its own address */
        post: operations["start_turn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/turns/{turn}/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The calls of a turn that wait for an approval */
        get: operations["list_approvals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/turns/{turn}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop a turn; a second time waits for no tool */
        post: operations["cancel_turn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/turns/{turn}/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Allow or deny a call, once, with the nonce that it was shown with */
        post: operations["confirm_turn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/turns/{turn}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Follow a turn, live or ended, after Last-Event-ID */
        get: operations["follow_turn"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/version": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The version of Ollama's API that is spoken */
        get: operations["ollama_version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-instances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The workflows that were started, the last one first */
        get: operations["list_workflow_instances"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-instances/{instance}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How far a workflow is */
        get: operations["get_workflow_instance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-instances/{instance}/act": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Go on with a workflow that waits, or do the step again that failed */
        post: operations["act_workflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-instances/{instance}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End a workflow for good */
        post: operations["cancel_workflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The workflows that can be started */
        get: operations["list_workflows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{workflow}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A workflow with its steps */
        get: operations["get_workflow"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows/{workflow}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start a workflow; its turn is followed like any other */
        post: operations["start_workflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/assets/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A file of the page */
        get: operations["get_asset"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/c/{chat}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The page, at a chat */
        get: operations["get_chat_page"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/chat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A message of a session, answered as a stream (document 003) */
        post: operations["chat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/embed.js": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The web component <fettle-chat>, for pages of origins that are allowed */
        get: operations["get_embed"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/favicon.svg": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The page's icon */
        get: operations["get_icon"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the process answers */
        get: operations["get_health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/infill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** llama.cpp's infill: the text between a prefix and a suffix */
        post: operations["infill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a session of MCP is told between its requests */
        get: operations["mcp_listen"];
        put?: never;
        /** A message of the Model Context Protocol, to the tools and agents; the answer is JSON or a stream */
        post: operations["mcp"];
        /** End a session of MCP */
        delete: operations["mcp_end"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp/{toolset}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a session of MCP is told between its requests */
        get: operations["mcp_toolset_listen"];
        put?: never;
        /** A message of the Model Context Protocol, to the tools and agents of one toolset; the answer is JSON or a stream */
        post: operations["mcp_toolset"];
        /** End a session of MCP */
        delete: operations["mcp_toolset_end"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Counters in Prometheus' text format */
        get: operations["get_metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This description */
        get: operations["get_openapi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether turns can begin */
        get: operations["get_ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/chat/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** OpenAI's chat completions: a model with the client's own tools, or an agent with fettle's too */
        post: operations["create_chat_completion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** OpenAI's completions: a text is continued, up to a suffix if there is one */
        post: operations["create_completion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/embeddings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** OpenAI's embeddings: the vectors of texts */
        post: operations["create_embeddings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Anthropic's messages: a model with the client's own tools, or an agent with fettle's too */
        post: operations["create_message"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/messages/count_tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The number of tokens of a request to create_message; the header X-Fettle-Estimate marks an estimate */
        post: operations["count_message_tokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** OpenAI's list of models, with the agents as fettle/AGENT */
        get: operations["list_openai_models"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models/{model}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A model of OpenAI's list */
        get: operations["get_openai_model"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** OpenAI's responses; one that is stored is a turn of a chat */
        post: operations["create_response"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses/{response}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A response that was stored, or the stream that it was */
        get: operations["get_response"];
        put?: never;
        post?: never;
        /** Delete a stored response that is alone in its chat */
        delete: operations["delete_response"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses/{response}/input_items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a stored response was asked with */
        get: operations["list_response_input"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1beta/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Google's Gemini API is not available; the error names what to use */
        get: operations["google_models"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1beta/models/{call}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Google's Gemini API is not available; the error names what to use */
        post: operations["google_call"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1beta/models/{model}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Google's Gemini API is not available; the error names what to use */
        get: operations["google_model"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AddedDocument: {
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            deleted_at?: string;
            id: string;
            manifest_id: string;
            mime: string;
            name: string;
            same: boolean;
            sha256: string;
            size: number;
        };
        Agent: {
            answers?: boolean;
            handoffs?: string[];
            history?: string;
            id: string;
            model?: string;
            name?: string;
            prompt: string;
            purpose: string;
            source?: string;
            tools?: string[];
            toolset_id?: string;
        };
        AgentFields: {
            handoffs?: string[];
            history?: string;
            model?: string;
            name?: string;
            prompt?: string;
            purpose?: string;
            tools?: string[];
        };
        Annotations: {
            destructive: boolean;
            idempotent: boolean;
            open_world: boolean;
            read_only: boolean;
        };
        Argument: {
            name: string;
            size: string;
            text: string;
        };
        Branch: {
            active: boolean;
            added: number;
            leaf_message_id: string;
            manifest_id?: string;
            messages: number;
            model?: string;
            modified: number;
            number: number;
            place: number;
            removed: number;
            title: string;
            /** Format: date-time */
            updated_at: string;
        };
        CallView: {
            app_calls?: number;
            app_of?: string;
            args: unknown;
            changed: number;
            changes: components["schemas"]["Change"][];
            chat_id: string;
            duration_ms?: number;
            error?: string;
            /** Format: date-time */
            finished_at?: string;
            id: string;
            index: number;
            message_id: string;
            payload_id?: string;
            plan_omitted?: boolean;
            post_manifest_id?: string;
            pre_manifest_id?: string;
            render_plan?: unknown;
            renderer?: string;
            result?: unknown;
            shared_changes?: boolean;
            /** Format: date-time */
            started_at: string;
            status: string;
            tool_id: string;
            tool_use_id: string;
            turn_id: string;
            undone?: boolean;
            workspace_payload?: unknown;
            workspace_plan?: unknown;
        };
        Change: {
            kind: string;
            mode?: string;
            path: string;
        };
        Change_: {
            asks: boolean;
            change: string;
            fields?: components["schemas"]["FieldChange"][];
            kind: string;
            name: string;
        };
        Chat: {
            active_leaf_message_id: string;
            active_manifest_id?: string;
            agent?: string;
            agent_mode?: boolean;
            approvals?: string;
            /** Format: date-time */
            created_at: string;
            cut_short?: boolean;
            /** Format: date-time */
            deleted_at?: string;
            forked_from?: components["schemas"]["Origin"];
            id: string;
            last_turn: number;
            messages: number;
            /** Format: date-time */
            mode_chosen_at?: string;
            model: string;
            number: number;
            plan?: boolean;
            system?: string;
            title: string;
            /** Format: date-time */
            updated_at: string;
            workspace?: string;
        };
        ClientAction: {
            action: string;
            description: string;
            input_schema?: unknown;
            label?: string;
        };
        Conflict: {
            kind: string;
            path: string;
            reason?: string;
        };
        CustomPayload: {
            data: unknown;
            type: string;
        };
        Document: {
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            deleted_at?: string;
            id: string;
            manifest_id: string;
            mime: string;
            name: string;
            sha256: string;
            size: number;
        };
        Effective: {
            files: string[];
            profile?: string;
            settings: components["schemas"]["Setting"][];
        };
        Error: {
            code: string;
            detail?: string[];
            hints?: string[];
            message: string;
            remedies?: components["schemas"]["Remedy"][];
            retry_after_ms?: number;
            retryable: boolean;
            status?: number;
        };
        Expect: {
            absent?: string[];
            error?: string;
            files?: {
                [key: string]: string;
            };
            return?: unknown;
        };
        Failure: {
            code: string;
            detail?: string[];
            detail_total?: number;
            hints?: string[];
            input?: string;
            message: string;
            remedies?: components["schemas"]["Remedy"][];
        };
        FieldChange: {
            field: string;
            new: string;
            old: string;
        };
        FilesSummary: {
            files: string[];
            modes: number;
            more: number;
            removed: number;
            restored: number;
        };
        Form: {
            call: string;
            fields?: components["schemas"]["FormField"][];
            kind: string;
            message?: string;
            sampling?: components["schemas"]["FormPrompt"];
            server: string;
            url?: string;
        };
        FormField: {
            default?: unknown;
            description?: string;
            format?: string;
            max_items?: number;
            max_length?: number;
            maximum?: number;
            min_items?: number;
            min_length?: number;
            minimum?: number;
            name: string;
            options?: components["schemas"]["FormOption"][];
            required?: boolean;
            title?: string;
            type: string;
        };
        FormOption: {
            title?: string;
            value: string;
        };
        FormPrompt: {
            max_tokens: number;
            messages: components["schemas"]["FormPromptMessage"][];
            model: string;
            system?: string;
        };
        FormPromptMessage: {
            role: string;
            text: string;
        };
        GallerySet: {
            agents: string[];
            description: string;
            entry_agent?: string;
            id: string;
            installed: boolean;
            installed_version?: string;
            name: string;
            pages: string[];
            reaches: string[];
            ref: string;
            tools: string[];
            version: string;
            workflows: string[];
        };
        GeneralMessage: {
            action_metadata?: unknown;
            annotations?: unknown[];
            chat_id: string;
            content: string;
            /** Format: date-time */
            created_at: string;
            custom_payload?: components["schemas"]["CustomPayload"];
            error?: components["schemas"]["Error"];
            footnotes?: string[];
            id: string;
            interaction_type?: string;
            left_manifest_id?: string;
            manifest_id?: string;
            model?: string;
            parent_id?: string;
            parts: components["schemas"]["Part"][];
            pieces?: number;
            plan?: boolean;
            role: string;
            state_unknown?: boolean;
            status: string;
            stop_reason?: string;
            suggested_actions?: unknown[];
            suggested_values?: unknown[];
            summary?: components["schemas"]["Summary"];
            /** Format: date-time */
            timestamp: string;
            tool_history?: components["schemas"]["ToolHistory"][];
            turn_id: string;
            usage?: components["schemas"]["Usage"];
            workspace_payload?: unknown;
        };
        Info: {
            api: number;
            data_dir: string;
            pid: number;
            settings: string;
            version: string;
            work_dir?: string;
        };
        ListedTool: {
            annotations: components["schemas"]["Annotations"];
            app?: string;
            category: string;
            description: string;
            enabled: boolean;
            entrypoint?: string;
            input_schema: unknown;
            name: string;
            output_schema?: unknown;
            problem?: string;
            reach: components["schemas"]["Reach"];
            renderer?: components["schemas"]["Renderer"];
            renderers: components["schemas"]["RenderConfig"][];
            requires_confirmation: boolean;
            service?: boolean;
            streaming: boolean;
            timeout?: string;
            tool_id: string;
            toolset_id?: string;
        };
        Manifest: {
            added?: number;
            bytes: number;
            chat_id: string;
            complete: boolean;
            /** Format: date-time */
            created_at: string;
            failed?: number;
            file_count: number;
            foreign?: boolean;
            ground_id?: string;
            id: string;
            maker?: string;
            parent_id?: string;
            root: string;
            shared?: boolean;
            since_id?: string;
            source: string;
            source_ref?: string;
            steps?: number;
        };
        Media: {
            data: string;
            mime: string;
        };
        Origin: {
            chat_id: string;
            message_id: string;
            number?: number;
        };
        Page: {
            client_actions?: components["schemas"]["ClientAction"][];
            context?: string;
            id: string;
            name?: string;
            payloads?: string[];
            toolset_id: string;
        };
        Part: {
            agent?: string;
            call?: components["schemas"]["ToolCall"];
            data?: string;
            details?: unknown;
            doc?: string;
            field?: string;
            mime?: string;
            model?: string;
            name?: string;
            payload?: components["schemas"]["Payload"];
            result?: components["schemas"]["ToolResult"];
            step?: number;
            text?: string;
            type: string;
        };
        Payload: {
            data: unknown;
            id: string;
            render_plan?: unknown;
            source: string;
            title?: string;
            toolset_id?: string;
            type: string;
        };
        PayloadDecision: {
            agent_id?: string;
            chat_id: string;
            /** Format: date-time */
            decided_at?: string;
            decision?: string;
            edits?: components["schemas"]["PayloadEdit"][];
            message_id: string;
            payload_id: string;
            payload_type: string;
            reaction?: components["schemas"]["Reaction"];
            remark?: string;
            title?: string;
            toolset_id?: string;
            turn_id?: string;
        };
        PayloadEdit: {
            /** Format: date-time */
            edited_at: string;
            text: string;
        };
        PayloadType: {
            llm_instructions?: string;
            on_accept?: components["schemas"]["Reaction"];
            on_reject?: components["schemas"]["Reaction"];
            parse_marker?: string;
            parser?: string;
            relevant_tabs?: string[];
            render_options?: components["schemas"]["RenderOptions"];
            renderer?: unknown;
            schema?: unknown;
            style?: components["schemas"]["Style"];
            toolset_id?: string;
            type: string;
        };
        Permissions: {
            env?: string[];
            network?: string[];
            read?: string[];
        };
        Reach: {
            contained: boolean;
            destructive: boolean;
            hosts?: string[];
            network?: string;
            reads?: string[];
            text: string;
            writes: boolean;
        };
        Reaction: {
            action?: string;
            tool?: string;
        };
        Remedy: {
            args?: string[];
            effect?: string;
            kind: string;
            text: string;
        };
        RenderConfig: {
            config: unknown;
            priority: number;
            renderer: string;
            tool_id: string;
        };
        RenderOptions: {
            headerIcon?: string;
            headerTitle?: string;
            panelWidth?: string;
        };
        Renderer: {
            artifact?: string;
            content?: string;
            data?: unknown;
            editable?: boolean;
            file?: string;
            language?: string;
            type: string;
            url?: string;
        };
        ResponsePayload: {
            chat_id: string;
            conversation_id: number;
            custom_payload?: components["schemas"]["CustomPayload"];
            denied?: number;
            message: string;
            message_id: string;
            model: string;
            stop_reason?: string;
            suggested_actions?: unknown[];
            suggested_values?: unknown[];
            tool_history?: components["schemas"]["ToolHistory"][];
            usage?: components["schemas"]["Usage"];
            workspace_payload?: unknown;
        };
        Review: {
            conflicts?: components["schemas"]["Conflict"][];
            files: components["schemas"]["ReviewedFile"][];
            more?: number;
            output?: string;
        };
        ReviewedFile: {
            added?: number;
            diff?: string;
            group?: string;
            kind: string;
            note?: string;
            path: string;
            removed?: number;
        };
        Service: {
            calls: components["schemas"]["ServiceCall"][];
            chat_id: string;
            ended?: components["schemas"]["ServiceEnd"];
            id: string;
            own_network: boolean;
            ports: number[];
            /** Format: date-time */
            since: string;
            tool_id: string;
            toolset_id: string;
            /** Format: date-time */
            used: string;
        };
        ServiceCall: {
            call_id: string;
            port?: number;
        };
        ServiceEnd: {
            /** Format: date-time */
            at: string;
            why: string;
        };
        Setting: {
            key: string;
            origin: string[];
            secret?: boolean;
            value: unknown;
        };
        ShownPayload: {
            call_id?: string;
            data: unknown;
            decision?: components["schemas"]["PayloadDecision"];
            edit?: components["schemas"]["PayloadEdit"];
            id: string;
            message_id: string;
            number: number;
            render_plan?: unknown;
            /** Format: date-time */
            shown_at: string;
            source: string;
            title?: string;
            toolset_id?: string;
            type: string;
        };
        Step: {
            agent?: string;
            args?: unknown;
            checkpoint?: boolean;
            id: string;
            name?: string;
            prompt?: string;
            tool?: string;
        };
        StepState: {
            error?: string;
            /** Format: date-time */
            finished_at?: string;
            id: string;
            name?: string;
            result?: unknown;
            /** Format: date-time */
            started_at?: string;
            state: string;
            turn_id?: string;
        };
        Style: {
            colour?: string;
            editable?: boolean;
            icon?: string;
            label?: string;
        };
        SuggestedFile: {
            name: string;
            text: string;
        };
        Suggestion: {
            agent?: string;
            message: string;
            model?: string;
            title: string;
            uploads?: components["schemas"]["SuggestedFile"][];
        };
        Summary: {
            /** Format: date-time */
            created_at: string;
            messages: number;
            model: string;
            outside?: string;
            text: string;
        };
        Test: {
            args?: unknown;
            expect?: components["schemas"]["Expect"];
            files?: {
                [key: string]: string;
            };
            name?: string;
            tool: string;
        };
        ToolCall: {
            args: unknown;
            client_form?: unknown;
            extra?: unknown;
            id: string;
            name: string;
        };
        ToolGroup: {
            enabled: boolean;
            id: string;
            kind: string;
            name: string;
            problem?: string;
            tools: components["schemas"]["ListedTool"][];
        };
        ToolHistory: {
            input: unknown;
            output: string;
            payload?: unknown;
            status: string;
            tool_id: string;
            tool_name: string;
            workspace_payload?: unknown;
        };
        ToolResult: {
            error?: boolean;
            id: string;
            media?: components["schemas"]["Part"][];
            name: string;
            outside?: string;
            text: string;
            undone?: boolean;
        };
        Toolset: {
            description: string;
            enabled: boolean;
            hash: string;
            id: string;
            /** Format: date-time */
            installed_at: string;
            kind: string;
            manifest_version: string;
            name: string;
            permissions?: components["schemas"]["Permissions"];
            requirements?: string[];
            revision: string;
            /** Format: date-time */
            revoked_at?: string;
            source_hash: string;
            source_ref: string;
            source_type: string;
            tests?: components["schemas"]["Test"][];
            uncontained?: boolean;
            /** Format: date-time */
            updated_at: string;
            version: string;
            workflows?: components["schemas"]["Workflow"][];
        };
        TurnEvent: components["schemas"]["event_status"] | components["schemas"]["event_agent_start"] | components["schemas"]["event_handoff"] | components["schemas"]["event_reasoning"] | components["schemas"]["event_text_delta"] | components["schemas"]["event_tool_start"] | components["schemas"]["event_confirm_request"] | components["schemas"]["event_confirm_result"] | components["schemas"]["event_tool_progress"] | components["schemas"]["event_tool_complete"] | components["schemas"]["event_payload"] | components["schemas"]["event_workflow"] | components["schemas"]["event_annotations"] | components["schemas"]["event_meta"] | components["schemas"]["event_footnote"] | components["schemas"]["event_summary"] | components["schemas"]["event_prompted"] | components["schemas"]["event_complete"] | components["schemas"]["event_error"] | components["schemas"]["event_cancelled"];
        TurnLine: {
            chat?: components["schemas"]["Chat"];
            ended?: boolean;
            fault?: components["schemas"]["Failure"];
            refused?: boolean;
            synced?: number;
            turn?: string;
            wait?: string;
        };
        Usage: {
            cache_write_tokens?: number;
            cached_tokens?: number;
            input_tokens: number;
            output_tokens: number;
            reasoning_tokens?: number;
        };
        Workflow: {
            description?: string;
            id: string;
            input_schema?: unknown;
            name?: string;
            steps: components["schemas"]["Step"][];
        };
        WorkflowInstance: {
            chat?: number;
            chat_id: string;
            /** Format: date-time */
            created_at: string;
            id: string;
            input: unknown;
            outside?: string;
            state: string;
            steps: components["schemas"]["StepState"][];
            turn_id: string;
            /** Format: date-time */
            updated_at: string;
            workflow: components["schemas"]["Workflow_"];
        };
        Workflow_: {
            description?: string;
            id: string;
            input_schema?: unknown;
            name?: string;
            steps: components["schemas"]["Step"][];
            toolset_id: string;
        };
        act: {
            action: string;
            allow?: string[];
            confirm?: boolean;
            model?: string;
            reviews?: boolean;
        };
        again: {
            agent?: string;
            agent_mode?: boolean;
            allow?: string[];
            approvals?: string;
            confirm?: boolean;
            docs?: string[];
            effort?: string;
            ephemeral?: boolean;
            files?: components["schemas"]["turnFile"][];
            forms?: boolean;
            images?: components["schemas"]["turnFile"][];
            keep_mode?: boolean;
            keep_plan?: boolean;
            max_tokens?: number;
            message?: string;
            message_id: string;
            model?: string;
            plan?: boolean;
            reviews?: boolean;
            schema?: unknown;
            system?: string;
            temperature?: number;
            text_alone?: boolean;
            think?: boolean;
            tools?: string[];
        };
        agents: {
            agents: components["schemas"]["Agent"][];
            unusable: components["schemas"]["unusableAgent"][];
        };
        agents_: {
            message: string;
            session_id: string;
        };
        agui: {
            context?: {
                [key: string]: unknown;
            }[];
            forwardedProps?: {
                [key: string]: unknown;
            };
            messages: {
                [key: string]: unknown;
            }[];
            resume?: {
                [key: string]: unknown;
            }[];
            runId: string;
            threadId: string;
            tools?: {
                [key: string]: unknown;
            }[];
        };
        aisdk: {
            confirm?: boolean;
            id: string;
            messageId?: string;
            messages: {
                [key: string]: unknown;
            }[];
            model?: string;
            trigger?: string;
        };
        answer: {
            all?: boolean;
            content?: unknown;
            decision: string;
            only?: string[];
            reason?: string;
            tool_use_id: string;
        };
        app: {
            csp: components["schemas"]["appCSP"];
            html: string;
            permissions: string[];
            prefers_border: boolean;
            resource_uri: string;
            server_id: string;
            tool: components["schemas"]["appToolInfo"];
            tool_input: unknown;
            tool_result: unknown;
            tools: string[];
        };
        appApproval: {
            arguments: components["schemas"]["Argument"][];
            /** Format: date-time */
            expires_at: string;
            input: unknown;
            nonce: string;
            reason: string;
            rule: string;
            tool: string;
            tool_id: string;
        };
        appCSP: {
            baseUriDomains: string[];
            connectDomains: string[];
            frameDomains: string[];
            resourceDomains: string[];
        };
        appResource: {
            uri: string;
        };
        appTool: {
            approval?: components["schemas"]["appApproval"];
            call_id?: string;
            result?: unknown;
        };
        appToolInfo: {
            description?: string;
            inputSchema: unknown;
            name: string;
            outputSchema?: unknown;
            title?: string;
        };
        appTool_: {
            approval?: string;
            arguments?: unknown;
            decision?: string;
            name: string;
        };
        approval: {
            arguments: components["schemas"]["Argument"][];
            /** Format: date-time */
            expires_at: string;
            form?: components["schemas"]["Form"];
            input: unknown;
            nonce: string;
            reach?: string;
            reason: string;
            review?: components["schemas"]["Review"];
            rule?: string;
            rule_text?: string;
            tool: string;
            tool_id: string;
            tool_use_id: string;
            turn_id: string;
            type: string;
        };
        approvals: {
            approvals: components["schemas"]["approval"][];
        };
        artifact: {
            app?: components["schemas"]["app"];
            call_id?: string;
            chat_id: string;
            /** Format: date-time */
            expires_at?: string;
            external_url?: string;
            kind: string;
            origin?: string;
            problem?: string;
            sandbox?: string;
            service?: components["schemas"]["service"];
            tool_id?: string;
            url?: string;
        };
        branches: {
            branches: components["schemas"]["Branch"][];
            chat: components["schemas"]["Chat"];
        };
        changeChat: {
            approvals?: string;
            plan?: boolean;
            title?: string;
        };
        chat: {
            chat: components["schemas"]["Chat"];
            pending?: string;
            turn_id?: string;
        };
        chats: {
            chats: components["schemas"]["listedChat"][];
            next?: string;
        };
        complete: {
            max_tokens?: number;
            model: string;
            prompt: string;
            stream?: boolean;
            suffix?: string;
        };
        completions: {
            max_completion_tokens?: number;
            messages: {
                [key: string]: unknown;
            }[];
            model: string;
            stream?: boolean;
            temperature?: number;
            tools?: {
                [key: string]: unknown;
            }[];
        };
        confirm: {
            all?: boolean;
            content?: unknown;
            decision: string;
            nonce: string;
            only?: string[];
            reason?: string;
            tool_use_id: string;
        };
        cutApplied: {
            changes: components["schemas"]["Change"][];
            conflicts?: components["schemas"]["Conflict"][];
            notes?: string[];
        };
        cutCall: {
            call_id: string;
            input?: unknown;
            /** Format: date-time */
            started: string;
            suspect?: boolean;
            tool_id?: string;
        };
        cutCalls: {
            calls: components["schemas"]["cutCall"][];
        };
        cutReview: {
            call_id: string;
            input?: unknown;
            notes?: string[];
            review: components["schemas"]["Review"];
            /** Format: date-time */
            started: string;
            suspect?: boolean;
            tool_id?: string;
        };
        decided: {
            again: boolean;
            payload: components["schemas"]["ShownPayload"];
            turn?: components["schemas"]["turn"];
        };
        decision: {
            allow?: string[];
            confirm?: boolean;
            remark?: string;
        };
        deletedResponse: {
            deleted: boolean;
            id: string;
            object: string;
        };
        diff: {
            changes: components["schemas"]["fileChange"][];
            from?: string;
            to: string;
            truncated?: boolean;
        };
        documents: {
            documents: components["schemas"]["Document"][];
        };
        edit: {
            text: string;
        };
        edited: {
            payload: components["schemas"]["ShownPayload"];
        };
        embed: {
            dimensions?: number;
            encoding_format?: string;
            input: unknown;
            model: string;
        };
        enable: {
            enabled: boolean;
        };
        enabled: {
            changed: boolean;
            enabled: boolean;
            id: string;
        };
        error: {
            error: components["schemas"]["error_"];
        };
        error_: {
            code: string;
            detail?: string[];
            detail_total?: number;
            hints?: string[];
            input?: string;
            message: string;
            remedies?: components["schemas"]["Remedy"][];
            request_id?: string;
        };
        event: components["schemas"]["TurnEvent"] | components["schemas"]["approval"];
        event_agent_start: {
            agent: string;
            seq: number;
            /** Format: date-time */
            time: string;
            turn_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "agent_start";
        };
        event_annotations: {
            annotations: unknown[];
            seq: number;
            /** Format: date-time */
            time: string;
            turn_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "annotations";
        };
        event_cancelled: {
            seq: number;
            /** Format: date-time */
            time: string;
            turn_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "cancelled";
        };
        event_complete: {
            payload: components["schemas"]["ResponsePayload"];
            seq: number;
            /** Format: date-time */
            time: string;
            turn_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "complete";
        };
        event_confirm_request: {
            form?: components["schemas"]["Form"];
            input: unknown;
            reach?: string;
            reason: string;
            review?: components["schemas"]["Review"];
            rule?: string;
            seq: number;
            /** Format: date-time */
            time: string;
            tool: string;
            tool_id: string;
            tool_use_id: string;
            turn_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "confirm_request";
        };
        event_confirm_result: {
            content?: unknown;
            decision: string;
            only?: string[];
            reason?: string;
            seq: number;
            /** Format: date-time */
            time: string;
            tool_use_id: string;
            turn_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "confirm_result";
        };
        event_error: {
            code: string;
            detail?: string[];
            hints?: string[];
            message: string;
            remedies?: components["schemas"]["Remedy"][];
            retry_after_ms?: number;
            retryable: boolean;
            seq: number;
            status?: number;
            /** Format: date-time */
            time: string;
            turn_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "error";
        };
        event_footnote: {
            ending?: string;
            ignored?: string[];
            seq: number;
            text: string;
            /** Format: date-time */
            time: string;
            turn_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "footnote";
            warning?: boolean;
        };
        event_handoff: {
            from: string;
            reason?: string;
            seq: number;
            /** Format: date-time */
            time: string;
            to: string;
            turn_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "handoff";
        };
        event_meta: {
            context_length?: number;
            model: string;
            reasoning_field?: string;
            seq: number;
            stop_detail?: string;
            stop_reason?: string;
            /** Format: date-time */
            time: string;
            turn_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "meta";
            usage?: components["schemas"]["Usage"];
        };
        event_payload: {
            data: unknown;
            payload_id: string;
            payload_type: string;
            render_plan?: unknown;
            seq: number;
            source: string;
            /** Format: date-time */
            time: string;
            title?: string;
            toolset_id?: string;
            turn_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "payload";
        };
        event_prompted: {
            model: string;
            seq: number;
            server: string;
            /** Format: date-time */
            time: string;
            tool_use_id: string;
            turn_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "prompted";
            usage?: components["schemas"]["Usage"];
        };
        event_reasoning: {
            agent?: string;
            reasoning_details?: unknown;
            said?: boolean;
            seq: number;
            text: string;
            /** Format: date-time */
            time: string;
            turn_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "reasoning";
        };
        event_status: {
            message: string;
            seq: number;
            /** Format: date-time */
            time: string;
            turn_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "status";
        };
        event_summary: {
            message_id?: string;
            messages: number;
            model: string;
            outside?: string;
            seq: number;
            text: string;
            /** Format: date-time */
            time: string;
            turn_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "summary";
            usage?: components["schemas"]["Usage"];
        };
        event_text_delta: {
            agent?: string;
            given?: boolean;
            seq: number;
            text: string;
            /** Format: date-time */
            time: string;
            turn_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "text_delta";
        };
        event_tool_complete: {
            call_manifest_id?: string;
            changes?: components["schemas"]["Change"][];
            conflicts?: components["schemas"]["Conflict"][];
            data?: unknown;
            duration_ms: number;
            error?: string;
            index: number;
            media?: components["schemas"]["Media"][];
            outside?: string;
            payload?: unknown;
            post_manifest_id?: string;
            pre_manifest_id?: string;
            render_plan?: unknown;
            result: string;
            seq: number;
            shared_changes?: boolean;
            status: string;
            /** Format: date-time */
            time: string;
            tool: string;
            tool_call_id: string;
            tool_id: string;
            tool_use_id: string;
            turn_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool_complete";
            workspace_payload?: unknown;
            workspace_plan?: unknown;
        };
        event_tool_progress: {
            data?: unknown;
            message: string;
            progress?: number;
            seq: number;
            stage: string;
            /** Format: date-time */
            time: string;
            tool: string;
            tool_use_id: string;
            turn_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool_progress";
        };
        event_tool_start: {
            agent?: string;
            client_form?: unknown;
            extra?: unknown;
            index: number;
            input: unknown;
            pre_manifest_id?: string;
            seq: number;
            /** Format: date-time */
            time: string;
            tool: string;
            tool_call_id: string;
            tool_id: string;
            tool_use_id: string;
            turn_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool_start";
        };
        event_workflow: {
            data?: unknown;
            instance: string;
            outside?: string;
            progress?: number;
            seq: number;
            state: string;
            step: string;
            /** Format: date-time */
            time: string;
            turn_id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "workflow";
        };
        file: {
            kind: string;
            mode?: string;
            path: string;
            reason?: string;
            sha256?: string;
            size: number;
            target?: string;
        };
        fileChange: {
            change: string;
            new?: components["schemas"]["file"];
            old?: components["schemas"]["file"];
            path: string;
        };
        files: {
            chat_id: string;
            files: components["schemas"]["file"][];
            manifest: components["schemas"]["Manifest"] | null;
            truncated?: boolean;
        };
        fork: {
            message_id?: string;
            place?: number;
        };
        found: {
            chats: components["schemas"]["foundChat"][];
            next?: number;
        };
        foundChat: {
            chat: components["schemas"]["Chat"];
            matches: components["schemas"]["match"][];
            title_offsets?: number[][];
        };
        gallery: {
            toolsets: components["schemas"]["GallerySet"][];
        };
        generate: {
            images?: string[];
            model: string;
            prompt: string;
            raw?: boolean;
            stream?: boolean;
            suffix?: string;
            system?: string;
        };
        google: {
            error: components["schemas"]["googleError"];
        };
        googleError: {
            code: number;
            message: string;
            status: string;
        };
        health: {
            status: string;
        };
        import: {
            approve: string;
            files: components["schemas"]["importedFile"][];
            id: string;
            installed: boolean;
            items: components["schemas"]["importItem"][];
            name: string;
            notes?: string[];
            replaces?: string;
            same?: boolean;
            tools: string[];
            toolset?: components["schemas"]["Toolset"];
            variables: components["schemas"]["importVar"][];
            version: string;
            warnings?: string[];
        };
        importField: {
            name: string;
            value: string;
        };
        importItem: {
            fields?: components["schemas"]["importField"][];
            kind: string;
            name: string;
        };
        importVar: {
            missing?: boolean;
            name: string;
        };
        importedFile: {
            path: string;
            size: number;
        };
        infill: {
            input_extra?: components["schemas"]["infillExtra"][];
            input_prefix: string;
            input_suffix: string;
            model?: string;
            n_predict?: number;
            prompt?: string;
            stop?: string[];
            stream?: boolean;
        };
        infillExtra: {
            filename: string;
            text: string;
        };
        inputContent: {
            detail?: string;
            file_data?: string;
            filename?: string;
            image_url?: string;
            text?: string;
            type: string;
        };
        inputItem: {
            call_id?: string;
            content?: components["schemas"]["inputContent"][];
            id: string;
            output?: string;
            role?: string;
            status: string;
            type: string;
        };
        inputItems: {
            data: components["schemas"]["inputItem"][];
            first_id: string;
            has_more: boolean;
            last_id: string;
            object: string;
        };
        instance: {
            instance_id: string;
            turn: components["schemas"]["turn"];
        };
        instances: {
            instances: components["schemas"]["WorkflowInstance"][];
        };
        limits: {
            bundle_bytes: number;
            document_bytes: number;
            json_bytes: number;
            turn_bytes: number;
            upload_bytes: number;
        };
        link: {
            /** Format: date-time */
            expires_at: string;
            path: string;
        };
        link_: {
            path: string;
        };
        listedChat: {
            active_leaf_message_id: string;
            active_manifest_id?: string;
            agent?: string;
            agent_mode?: boolean;
            approvals?: string;
            /** Format: date-time */
            created_at: string;
            cut_short?: boolean;
            /** Format: date-time */
            deleted_at?: string;
            forked_from?: components["schemas"]["Origin"];
            id: string;
            last_turn: number;
            messages: number;
            /** Format: date-time */
            mode_chosen_at?: string;
            model: string;
            number: number;
            plan?: boolean;
            preview?: string;
            system?: string;
            title: string;
            turn_id?: string;
            /** Format: date-time */
            updated_at: string;
            workspace?: string;
        };
        look: {
            approve?: string;
        };
        looked: {
            approve?: string;
            changes: components["schemas"]["Change_"][];
            name: string;
            notes: string[];
            tools: components["schemas"]["ListedTool"][];
            version: string;
            waiting: boolean;
        };
        manifest: {
            added?: number;
            bytes: number;
            chat_id: string;
            complete: boolean;
            /** Format: date-time */
            created_at: string;
            entries: components["schemas"]["file"][];
            failed?: number;
            file_count: number;
            files: unknown;
            foreign?: boolean;
            ground_id?: string;
            id: string;
            maker?: string;
            parent_id?: string;
            root: string;
            shared?: boolean;
            since_id?: string;
            source: string;
            source_ref?: string;
            steps?: number;
        };
        match: {
            /** Format: date-time */
            created_at: string;
            excerpt: string;
            in: string;
            message_id: string;
            model?: string;
            offsets: number[][];
            role: string;
        };
        mcp: {
            id?: unknown;
            jsonrpc: string;
            method?: string;
            params?: unknown;
        };
        messages: {
            before?: string;
            calls: components["schemas"]["CallView"][];
            chat: components["schemas"]["Chat"];
            messages: components["schemas"]["GeneralMessage"][];
            question?: components["schemas"]["GeneralMessage"];
            siblings: {
                [key: string]: components["schemas"]["siblings"];
            };
            total: number;
            turn_id?: string;
            turn_parent_id?: string;
        };
        messages_: {
            max_tokens?: number;
            messages: {
                [key: string]: unknown;
            }[];
            model: string;
            stream?: boolean;
            system?: unknown;
            tools?: {
                [key: string]: unknown;
            }[];
        };
        model: {
            context_length: number | null;
            details?: string;
            efforts?: string[];
            images: boolean | null;
            local: boolean;
            model: string;
            name: string;
            provider: string;
            schema: boolean | null;
            thinking: boolean | null;
            tools: boolean | null;
        };
        model_: {
            model: string;
            stream?: boolean;
        };
        models: {
            models: components["schemas"]["model"][];
            providers: components["schemas"]["provider"][];
        };
        move: {
            from: string;
            to: string;
        };
        ollama: {
            messages: {
                [key: string]: unknown;
            }[];
            model: string;
            stream?: boolean;
            tools?: {
                [key: string]: unknown;
            }[];
        };
        open: {
            code: string;
        };
        page: {
            agent: string;
            approvals: string;
            artifact_origin: string;
            demo: boolean;
            limits: components["schemas"]["limits"];
            model: string;
            renderers: string[];
            suggestions: components["schemas"]["Suggestion"][];
            version: string;
        };
        passage: {
            cosine?: number;
            document: components["schemas"]["Document"];
            end: number;
            line: number;
            meaning_rank?: number;
            offsets: number[][];
            score: number;
            start: number;
            text: string;
            words_rank?: number;
        };
        passages: {
            embedded: number;
            model?: string;
            no_meaning?: string;
            passages: components["schemas"]["passage"][];
            tokens: number;
        };
        pathReason: {
            path: string;
            reason: string;
        };
        payload: {
            payload: components["schemas"]["ShownPayload"];
            render_plan?: unknown;
        };
        payloadProblem: {
            message: string;
            toolset_id: string;
        };
        payloadTypes: {
            pages: components["schemas"]["Page"][];
            problems: components["schemas"]["payloadProblem"][];
            types: components["schemas"]["PayloadType"][];
        };
        payloads: {
            chat: components["schemas"]["Chat"];
            payloads: components["schemas"]["ShownPayload"][];
        };
        prompt: {
            model: string;
            prompt: string;
        };
        provider: {
            /** Format: date-time */
            asked_at?: string;
            error?: string;
            local: boolean;
            not_ready?: string;
            provider: string;
        };
        ready: {
            status: string;
        };
        render: {
            chat_id: string;
            /** Format: date-time */
            expires_at?: string;
            problem?: string;
            render_plan: unknown;
            tool_id: string;
            url?: string;
        };
        responses: {
            input: unknown;
            instructions?: string;
            model: string;
            previous_response_id?: string;
            store?: boolean;
            stream?: boolean;
            tools?: {
                [key: string]: unknown;
            }[];
        };
        restart: {
            allow?: string[];
            confirm?: boolean;
        };
        restore: {
            call?: string;
            dry_run?: boolean;
            keep?: string[];
            manifest?: string;
            overwrite?: boolean;
            paths?: string[];
            steps?: number;
        };
        restored: {
            after?: string;
            before?: string;
            blocked: components["schemas"]["pathReason"][];
            changes: components["schemas"]["fileChange"][];
            chat: components["schemas"]["Chat"];
            inverse?: string;
            left: components["schemas"]["pathReason"][];
            steps: components["schemas"]["workspaceState"][];
            summary: components["schemas"]["FilesSummary"];
            truncated?: boolean;
            warning?: string;
        };
        server: {
            args?: string[];
            command?: string;
            declared_by: string[];
            enabled: boolean;
            env: string[];
            headers: string[];
            id: string;
            own: boolean;
            /** Format: date-time */
            pinned_at?: string;
            problem?: string;
            tools: components["schemas"]["ListedTool"][];
            transport: string;
            url?: string;
            waiting: boolean;
        };
        servers: {
            servers: components["schemas"]["server"][];
        };
        service: {
            again: boolean;
            call_id: string;
            chat_id: string;
            own_network: boolean;
            port?: number;
            state: string;
            tool_id: string;
            why?: string;
        };
        services: {
            services: components["schemas"]["Service"][];
        };
        show: {
            model: string;
        };
        siblings: {
            ids: string[];
            index: number;
        };
        stateChanges: {
            changed: number;
            paths: components["schemas"]["Change"][];
        };
        states: {
            chat_id: string;
            more?: boolean;
            pending?: string;
            states: components["schemas"]["workspaceState"][];
        };
        switch: {
            message_id: string;
            overwrite?: boolean;
        };
        title: {
            title?: string;
        };
        token: {
            token: string;
        };
        tokenCount: {
            input_tokens: number;
        };
        tool: {
            group: string;
            kind: string;
            tool: components["schemas"]["ListedTool"];
        };
        tools: {
            groups: components["schemas"]["ToolGroup"][];
        };
        toolset: {
            agent_count: number;
            description: string;
            enabled: boolean;
            hash: string;
            id: string;
            /** Format: date-time */
            installed_at: string;
            kind: string;
            manifest_version: string;
            mcp_server_count: number;
            name: string;
            pending_approvals?: number;
            permissions?: components["schemas"]["Permissions"];
            problem?: string;
            requirements?: string[];
            revision: string;
            /** Format: date-time */
            revoked_at?: string;
            source_hash: string;
            source_ref: string;
            source_type: string;
            tests?: components["schemas"]["Test"][];
            tool_count: number;
            uncontained?: boolean;
            /** Format: date-time */
            updated_at: string;
            version: string;
            workflows?: components["schemas"]["Workflow"][];
        };
        toolsetDetail: {
            tools: components["schemas"]["ListedTool"][];
            toolset: components["schemas"]["toolset"];
        };
        toolsets: {
            toolsets: components["schemas"]["toolset"][];
        };
        turn: {
            chat_id: string;
            conversation_id?: number;
            events: string;
            turn_id: string;
        };
        turnContext: {
            page?: string;
            tab?: string;
        };
        turnFile: {
            data?: string;
            mime?: string;
            name: string;
            text?: string;
        };
        turn_: {
            action_metadata?: unknown;
            agent?: string;
            agent_mode?: boolean;
            allow?: string[];
            approvals?: string;
            chat_id?: string;
            confirm?: boolean;
            context?: components["schemas"]["turnContext"];
            conversation_id?: number;
            detach?: boolean;
            docs?: string[];
            effort?: string;
            ephemeral?: boolean;
            files?: components["schemas"]["turnFile"][];
            fork?: boolean;
            forms?: boolean;
            images?: components["schemas"]["turnFile"][];
            interaction_type?: string;
            keep_mode?: boolean;
            keep_plan?: boolean;
            max_tokens?: number;
            message?: string;
            model?: string;
            parent_id?: string;
            plan?: boolean;
            reviews?: boolean;
            schema?: unknown;
            system?: string;
            temperature?: number;
            text_alone?: boolean;
            think?: boolean;
            tools?: string[];
            uploads?: components["schemas"]["turnFile"][];
        };
        uninstalled: {
            id: string;
            in_use?: boolean;
            mcp_servers: string[];
            shared_mcp_servers: string[];
            tools: number;
        };
        unusableAgent: {
            id: string;
            problem: string;
        };
        workflow: {
            allow?: string[];
            chat_id?: string;
            confirm?: boolean;
            conversation_id?: number;
            input?: unknown;
            model?: string;
            reviews?: boolean;
        };
        workflows: {
            workflows: components["schemas"]["Workflow_"][];
        };
        workspaceState: {
            active?: boolean;
            added?: number;
            args?: unknown;
            by?: string;
            bytes: number;
            changes?: components["schemas"]["stateChanges"];
            chat_id: string;
            complete: boolean;
            /** Format: date-time */
            created_at: string;
            failed?: number;
            file_count: number;
            foreign?: boolean;
            ground_id?: string;
            id: string;
            maker?: string;
            parent_id?: string;
            reverted?: boolean;
            root: string;
            shared?: boolean;
            since_id?: string;
            source: string;
            source_ref?: string;
            steps?: number;
            tool?: string;
            undone?: boolean;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    get_front_page: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    agui_run: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["agui"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    aisdk_chat: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["aisdk"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    aisdk_resume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    list_agents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["agents"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_agent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                agent: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    delete_agent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                agent: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    update_agent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                agent: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AgentFields"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    export_agent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                agent: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/yaml": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_available_tools: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["tools"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    ollama_chat: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ollama"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    list_chats: {
        parameters: {
            query?: {
                /** @description how many; 50 unless it is given, 500 at most */
                limit?: number;
                /** @description the next of the page before */
                after?: string;
                /** @description a part of the model's name */
                model?: string;
                /** @description used at or after this time */
                since?: string;
                /** @description used before this time */
                before?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["chats"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    create_chat: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["title"];
            };
        };
        responses: {
            /** @description success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["chat"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_chat: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["chat"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    delete_chat: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    rename_chat: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["changeChat"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["chat"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    list_branches: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["branches"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    edit_message: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["again"];
            };
        };
        responses: {
            /** @description success */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["turn"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    follow_chat: {
        parameters: {
            query?: {
                /** @description the id of the last event that the client has, where it can't send Last-Event-ID */
                after?: string;
            };
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["event"];
                };
            };
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    fork_chat: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["fork"];
            };
        };
        responses: {
            /** @description success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["chat"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    list_messages: {
        parameters: {
            query?: {
                /** @description how many; 100 unless it is given, 1000 at most */
                limit?: number;
                /** @description only those before this message */
                before?: string;
                /** @description the branch that ends with this message */
                leaf?: string;
                /** @description `false` leaves the tool history out, which the parts have too */
                tool_history?: boolean;
            };
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["messages"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    list_payloads: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["payloads"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_payload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
                payload: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["payload"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    accept_payload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
                payload: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["decision"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["decided"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    open_payload_artifact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
                payload: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["artifact"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    reject_payload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
                payload: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["decision"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["decided"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    edit_payload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
                payload: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["edit"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["edited"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    restore_chat: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["chat"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    retry_message: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["again"];
            };
        };
        responses: {
            /** @description success */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["turn"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    switch_branch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["switch"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["restored"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    list_cut_calls: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["cutCalls"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    review_cut_call: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
                call: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["cutReview"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    discard_cut_call: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
                call: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    apply_cut_call: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
                call: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["cutApplied"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    diff_workspace: {
        parameters: {
            query?: {
                /** @description a state; the one before, unless it is given */
                from?: string;
                /** @description a state; the active one, unless it is given */
                to?: string;
            };
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["diff"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_workspace_files: {
        parameters: {
            query?: {
                /** @description a state: its id, @ for the active one, @-1 for the one before it */
                manifest?: string;
                /** @description the state after this message */
                message_id?: string;
                /** @description the state after this call */
                tool_call_id?: string;
            };
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["files"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_workspace_file: {
        parameters: {
            query?: {
                /** @description a state: its id, @ for the active one, @-1 for the one before it */
                manifest?: string;
                /** @description the state after this message */
                message_id?: string;
                /** @description the state after this call */
                tool_call_id?: string;
            };
            header?: never;
            path: {
                chat: string;
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": unknown;
                };
            };
            /** @description Partial Content */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Not Modified */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    put_workspace_file: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
                path: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": unknown;
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["restored"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    delete_workspace_file: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["restored"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_workspace_manifest: {
        parameters: {
            query?: {
                /** @description a state: its id, @ for the active one, @-1 for the one before it */
                manifest?: string;
                /** @description the state after this message */
                message_id?: string;
                /** @description the state after this call */
                tool_call_id?: string;
            };
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["manifest"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    move_workspace_file: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["move"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["restored"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    redo_workspace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["restore"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["restored"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    restore_workspace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["restore"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["restored"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    list_workspace_states: {
        parameters: {
            query?: {
                /** @description how many; 100 unless it is given */
                limit?: number;
                /** @description tell what each changed of the one before it */
                changes?: boolean;
                /** @description those of all branches, not only of the way to the active one */
                all?: boolean;
            };
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["states"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    undo_workspace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["restore"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["restored"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    ollama_copy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["model_"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    ollama_create: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["model_"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    ollama_delete: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["model_"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    list_deleted_chats: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["chats"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    list_documents: {
        parameters: {
            query?: {
                /** @description those that were removed and can be brought back */
                deleted?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["documents"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_document: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                document: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Document"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    put_document: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                document: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": unknown;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddedDocument"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    delete_document: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                document: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_document_content: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                document: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    restore_document: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                document: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Document"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    ollama_embed: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["embed"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    ollama_embeddings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["prompt"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    list_gallery: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["gallery"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    import_gallery: {
        parameters: {
            query?: {
                /** @description the `approve` of the answer without it, once a person has seen what the toolset wants */
                approve?: string;
            };
            header?: never;
            path: {
                toolset: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["import"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    ollama_generate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["generate"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    create_link: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["link_"];
            };
        };
        responses: {
            /** @description success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["link"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    list_mcp_servers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["servers"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    enable_mcp_server: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                server: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["enable"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["enabled"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    look_at_mcp_server: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                server: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["look"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["looked"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    remove_mcp_server: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                server: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    list_models: {
        parameters: {
            query?: {
                /** @description only this one; may be repeated */
                provider?: string;
                /** @description ask all of them now */
                refresh?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["models"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    open_page: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["open"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["token"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_server: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Info"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    share_store: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    begin_turn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["TurnLine"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    answer_call: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                turn: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["answer"];
            };
        };
        responses: {
            /** @description success */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_page: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["page"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    list_payload_types: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["payloadTypes"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    ollama_ps: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    ollama_pull: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["model_"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    ollama_push: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["model_"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    search_chats: {
        parameters: {
            query?: {
                /** @description words, "phrases", begin*, -without */
                q?: string;
                /** @description how many; 50 unless it is given */
                limit?: number;
                /** @description the next of the page before */
                after?: number;
                /** @description a pattern of the model's name */
                model?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["found"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    search_documents: {
        parameters: {
            query?: {
                /** @description words, "phrases", begin*, -without */
                q?: string;
                /** @description how many; 10 unless it is given, 100 at most */
                limit?: number;
                /** @description `true` ranks by words alone, and sends nothing to a provider */
                words?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["passages"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    list_services: {
        parameters: {
            query?: {
                /** @description those of one chat */
                chat_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["services"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_settings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Effective"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    ollama_show: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["show"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    stream: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["turn_"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["event"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    ollama_tags: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_tool_call: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                call: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallView"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    read_app_resource: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                call: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["appResource"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    call_app_tool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                call: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["appTool_"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["appTool"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    open_artifact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                call: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["artifact"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_render_document: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                call: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["render"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_service: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                call: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["service"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    restart_service: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                call: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["restart"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["turn"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    stop_service: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                call: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["service"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    list_tools: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["tools"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_tool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tool: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["tool"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    enable_tool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tool: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["enable"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["enabled"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    list_toolsets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["toolsets"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    import_toolset: {
        parameters: {
            query?: {
                /** @description the `approve` of the answer without it, once a person has seen what the bundle wants */
                approve?: string;
                /** @description the name of the bundle's file, which is kept as its source; a form contains the name */
                name?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/gzip": unknown;
                "application/x-gzip": unknown;
                "application/x-tar": unknown;
                "application/zip": unknown;
                "multipart/form-data": unknown;
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["import"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_toolset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                toolset: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["toolsetDetail"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    enable_toolset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                toolset: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["enable"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["enabled"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    export_toolset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                toolset: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/zip": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    uninstall_toolset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                toolset: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["uninstalled"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    start_turn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["turn_"];
            };
        };
        responses: {
            /** @description success */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["turn"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    list_approvals: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                turn: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["approvals"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    cancel_turn: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                turn: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    confirm_turn: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                turn: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["confirm"];
            };
        };
        responses: {
            /** @description success */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    follow_turn: {
        parameters: {
            query?: {
                /** @description the id of the last event that the client has, where it can't send Last-Event-ID */
                after?: string;
                /** @description `events` gives the events just as the engine has them */
                form?: string;
            };
            header?: never;
            path: {
                turn: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["event"];
                };
            };
            /** @description No Content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    ollama_version: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    list_workflow_instances: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["instances"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_workflow_instance: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                instance: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowInstance"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    act_workflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                instance: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["act"];
            };
        };
        responses: {
            /** @description success */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["instance"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    cancel_workflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                instance: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowInstance"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    list_workflows: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["workflows"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_workflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workflow_"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    start_workflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["workflow"];
            };
        };
        responses: {
            /** @description success */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["instance"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_asset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": unknown;
                };
            };
            /** @description Not Modified */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_chat_page: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    chat: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["agents_"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_embed: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/javascript": unknown;
                };
            };
            /** @description Not Modified */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_icon: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/svg+xml": unknown;
                };
            };
            /** @description Not Modified */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["health"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    infill: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["infill"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    mcp_listen: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    mcp: {
        parameters: {
            query?: {
                /** @description tells the workspaces of one client apart, where its protocol has no sessions */
                session?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["mcp"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    mcp_end: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    mcp_toolset_listen: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                toolset: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    mcp_toolset: {
        parameters: {
            query?: {
                /** @description tells the workspaces of one client apart, where its protocol has no sessions */
                session?: string;
            };
            header?: never;
            path: {
                toolset: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["mcp"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    mcp_toolset_end: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                toolset: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_openapi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_ready: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ready"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    create_chat_completion: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["completions"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    create_completion: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["complete"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    create_embeddings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["embed"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    create_message: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["messages_"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    count_message_tokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["messages_"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["tokenCount"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    list_openai_models: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_openai_model: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                model: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    create_response: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["responses"];
            };
        };
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    get_response: {
        parameters: {
            query?: {
                /** @description whether the events are wanted */
                stream?: boolean;
                /** @description the number of the last event that the client has */
                starting_after?: number;
            };
            header?: never;
            path: {
                response: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    delete_response: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                response: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["deletedResponse"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    list_response_input: {
        parameters: {
            query?: {
                /** @description `asc` is from the first on */
                order?: string;
            };
            header?: never;
            path: {
                response: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["inputItems"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    google_models: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["google"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    google_call: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                call: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description success */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["google"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
    google_model: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                model: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description success */
            501: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["google"];
                };
            };
            /** @description failure */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["error"];
                };
            };
        };
    };
}
