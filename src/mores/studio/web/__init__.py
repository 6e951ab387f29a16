"""The studio as a web app: thin routes over the workflow and the store."""
